-- Of the tables nothing changes. Who reads pages relies on the functions as db/triggers/game-counts.sql, applied after
-- the migrations, has them from here on: a process that does so refuses a database without this entry.
select 1;
