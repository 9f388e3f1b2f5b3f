/**
 * Words for names and descriptions of games, separated by `|`. In sentences, `%` stands for the name of the game;
 * `joiner` stands between the two words of a name.
 */
export type Language = Record<'joiner' | 'first' | 'second' | 'opening' | 'body' | 'closing', string>;

const english: Language = {
  joiner: ' ',
  first:
    'Crimson|Silent|Pocket|Neon|Lost|Tiny|Iron|Paper|Midnight|Golden|Frozen|Wandering|Electric|Hidden|Royal|Clockwork|Salted|Hollow|Lunar|Velvet',
  second:
    'Harbor|Kingdom|Orchard|Circuit|Voyage|Bakery|Legion|Lighthouse|Dungeon|Railway|Garden|Frontier|Arena|Expedition|Labyrinth|Tactics|Odyssey|Workshop|Rally|Archipelago',
  opening:
    '% is a calm puzzle game about putting things back where they belong.|In % you lead five strangers across a map that redraws itself every night.|% is a racing game for one thumb and short train rides.|Build, trade and quarrel with your neighbours in %.',
  body: 'More than two hundred hand-drawn levels wait, and none of them is timed.|Every run is different; every loss teaches one new trick.|Play alone, or with up to four friends on one screen.|Its soundtrack was recorded with a small orchestra in a very cold church.',
  closing:
    'No advertisements. Works offline.|New chapters arrive every month.|Progress moves between your devices.|“Hard to put down”, says nobody’s mother.',
};

const spanish: Language = {
  joiner: ' ',
  first: 'Aventura|Leyenda|Sombras|Reino|Camino|Fiesta|Misterio|Batalla',
  second: 'del Volcán|de Cristal|del Ñandú|sin Fin|de Otoño|del Faraón|bajo el Mar|de los Pingüinos',
  opening:
    '¡% te lleva a una isla donde el tiempo corre al revés!|En % diriges una pequeña compañía de héroes cansados.',
  body: 'Explora, cocina y negocia con más de cien personajes.|Cada decisión cambia el mapa; ninguna es la correcta.',
  closing: 'Se puede jugar sin conexión.|Gratis, con compras opcionales.',
};

const russian: Language = {
  joiner: ' ',
  first: 'Северный|Забытый|Железный|Лунный|Тихий|Янтарный|Последний|Бумажный',
  second: 'Рубеж|Лес|Экспресс|Замок|Океан|Город|Дозор|Караван',
  opening:
    '«%» — пошаговая стратегия о городе на краю карты.|В игре «%» вы ведёте караван через замёрзшее море.',
  body: 'Каждое решение меняет историю.|Более ста уровней и ни одного одинакового.',
  closing: 'Играйте без подключения к сети.|Новые главы выходят каждый месяц.',
};

const chinese: Language = {
  joiner: '',
  first: '星河|山海|青云|幻境|机甲|江湖|萌宠|梦幻|龙渊|极速',
  second: '物语|传说|农场|争霸|录|骑士|餐厅|奇缘|远征|方块',
  opening: '《%》是一款轻松的模拟经营游戏。|在《%》中,你将带领五位伙伴踏上未知的旅程。',
  body: '超过两百个手绘关卡,等你慢慢探索。|每一次选择都会改变故事的走向。',
  closing: '支持离线游玩。|每月更新全新章节!',
};

const japanese: Language = {
  joiner: '',
  first: '星屑の|ねこの|夕焼け|機械仕掛けの|まほうの|迷宮|ひみつの|銀河',
  second: 'レストラン|クロニクル|王国|パズル|オンライン|だいぼうけん|カフェ|ファンタジア',
  opening:
    '『%』は、小さな町を育てるのんびりシミュレーションです。|『%』で、仲間と終わらない夜の地図を旅しよう。',
  body: '二百以上のステージを収録。|遊ぶたびに物語が変わります。',
  closing: 'オフラインでも遊べます。|毎月あたらしい章が届きます♪',
};

const korean: Language = {
  joiner: ' ',
  first: '별빛|그림자|고양이|마법의|잃어버린|작은|황금|달빛',
  second: '왕국|농장|원정대|카페|연대기|미궁|레이싱|서점',
  opening: '%은(는) 느긋하게 즐기는 퍼즐 게임입니다.|%에서 다섯 동료와 함께 끝없는 밤을 여행하세요.',
  body: '손으로 그린 200개 이상의 스테이지가 기다립니다.|선택할 때마다 이야기가 달라집니다.',
  closing: '오프라인에서도 플레이할 수 있습니다.|매달 새로운 장이 추가됩니다.',
};

const arabic: Language = {
  joiner: ' ',
  first: 'أسرار|مملكة|فرسان|ليالي|حكايات|أبطال|كنوز|رحلة',
  second: 'الصحراء|القمر|البحر|الرمال|النجوم|القلعة|الواحة|السندباد',
  opening: '«%» لعبة ألغاز هادئة لكل الأعمار.|في «%» تقود قافلة صغيرة عبر خريطة تتغير كل ليلة.',
  body: 'أكثر من مئتي مرحلة مرسومة باليد.|كل قرار يغيّر مجرى القصة.',
  closing: 'تعمل من دون اتصال بالإنترنت.|فصول جديدة كل شهر.',
};

const hindi: Language = {
  joiner: ' ',
  first: 'जादुई|सुनहरा|खोया|नन्हा|चाँदनी|रहस्यमयी|शाही|अनोखा',
  second: 'किला|सफ़र|बाज़ार|जंगल|रथ|ख़ज़ाना|मेला|साम्राज्य',
  opening: '% एक शांत पहेली खेल है।|% में आप पाँच साथियों के साथ अनजानी यात्रा पर निकलते हैं।',
  body: 'दो सौ से ज़्यादा हाथ से बने स्तर।|हर फ़ैसला कहानी बदल देता है।',
  closing: 'बिना इंटरनेट के भी चलता है।|हर महीने नया अध्याय।',
};

/** English three times, because three in ten games are English. */
export const LANGUAGES: readonly [Language, ...Language[]] = [
  english,
  chinese,
  english,
  spanish,
  japanese,
  korean,
  english,
  russian,
  arabic,
  hindi,
];
