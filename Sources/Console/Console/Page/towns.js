// Towns that the map shows, and the field that moves the map to one of them. `from` is the lowest zoom at which the map has room for
// the name.

import { el } from "./dom.js";
import { language, t } from "./text.js";

/** Each row: the name in Japanese and in English, latitude, longitude, and `from`. */
const rows = [
  ["東京", "Tokyo", 35.6812, 139.7671, 3],
  ["大阪", "Osaka", 34.6937, 135.5023, 5],
  ["札幌", "Sapporo", 43.0621, 141.3544, 4],
  ["福岡", "Fukuoka", 33.5902, 130.4017, 5],
  ["名古屋", "Nagoya", 35.1815, 136.9066, 6],
  ["仙台", "Sendai", 38.2682, 140.8694, 5],
  ["広島", "Hiroshima", 34.3853, 132.4553, 6],
  ["那覇", "Naha", 26.2124, 127.6792, 5],
  ["京都", "Kyoto", 35.0116, 135.7681, 6],
  ["神戸", "Kobe", 34.6901, 135.1956, 7],
  ["横浜", "Yokohama", 35.4437, 139.638, 7],
  ["さいたま", "Saitama", 35.8617, 139.6455, 8],
  ["千葉", "Chiba", 35.6073, 140.1063, 8],
  ["新潟", "Niigata", 37.9162, 139.0364, 6],
  ["金沢", "Kanazawa", 36.5613, 136.6562, 6],
  ["静岡", "Shizuoka", 34.9756, 138.3828, 7],
  ["岡山", "Okayama", 34.6551, 133.9195, 7],
  ["熊本", "Kumamoto", 32.8031, 130.7079, 6],
  ["鹿児島", "Kagoshima", 31.5966, 130.5571, 6],
  ["長崎", "Nagasaki", 32.7503, 129.8777, 7],
  ["高松", "Takamatsu", 34.3428, 134.0466, 7],
  ["松山", "Matsuyama", 33.8392, 132.7657, 7],
  ["高知", "Kochi", 33.5597, 133.5311, 7],
  ["徳島", "Tokushima", 34.0703, 134.5549, 8],
  ["宮崎", "Miyazaki", 31.9077, 131.4202, 7],
  ["大分", "Oita", 33.2396, 131.6093, 7],
  ["佐賀", "Saga", 33.2635, 130.3009, 8],
  ["山口", "Yamaguchi", 34.1785, 131.4737, 8],
  ["松江", "Matsue", 35.4681, 133.0484, 7],
  ["鳥取", "Tottori", 35.5011, 134.2351, 7],
  ["和歌山", "Wakayama", 34.226, 135.1675, 8],
  ["奈良", "Nara", 34.6851, 135.8048, 8],
  ["大津", "Otsu", 35.0045, 135.8686, 9],
  ["津", "Tsu", 34.7303, 136.5086, 8],
  ["岐阜", "Gifu", 35.4233, 136.7607, 8],
  ["福井", "Fukui", 36.0641, 136.2196, 8],
  ["富山", "Toyama", 36.6953, 137.2114, 7],
  ["長野", "Nagano", 36.6486, 138.1948, 7],
  ["甲府", "Kofu", 35.6622, 138.5684, 8],
  ["前橋", "Maebashi", 36.3895, 139.0634, 8],
  ["宇都宮", "Utsunomiya", 36.5551, 139.8828, 8],
  ["水戸", "Mito", 36.3659, 140.4714, 8],
  ["福島", "Fukushima", 37.7608, 140.4747, 7],
  ["山形", "Yamagata", 38.2554, 140.3396, 8],
  ["秋田", "Akita", 39.72, 140.1026, 6],
  ["盛岡", "Morioka", 39.7021, 141.1545, 7],
  ["青森", "Aomori", 40.8222, 140.7474, 6],
  ["函館", "Hakodate", 41.7687, 140.7288, 7],
  ["旭川", "Asahikawa", 43.7706, 142.365, 7],
  ["釧路", "Kushiro", 42.9849, 144.382, 7],
  ["新宿", "Shinjuku", 35.6909, 139.7003, 11],
  ["渋谷", "Shibuya", 35.658, 139.7016, 11],
  ["池袋", "Ikebukuro", 35.7295, 139.7109, 12],
  ["上野", "Ueno", 35.7138, 139.777, 12],
  ["銀座", "Ginza", 35.6717, 139.765, 12],
  ["品川", "Shinagawa", 35.6284, 139.7387, 12],
  ["吉祥寺", "Kichijoji", 35.7031, 139.5798, 12],
  ["大宮", "Omiya", 35.9064, 139.6239, 10],
  ["梅田", "Umeda", 34.7025, 135.4959, 11],
  ["難波", "Namba", 34.666, 135.501, 12],
  ["三宮", "Sannomiya", 34.6946, 135.1956, 12],
  ["博多", "Hakata", 33.5897, 130.4207, 12],
  ["天神", "Tenjin", 33.591, 130.3989, 12],
  ["ソウル", "Seoul", 37.5665, 126.978, 4],
  ["釜山", "Busan", 35.1796, 129.0756, 6],
  ["北京", "Beijing", 39.9042, 116.4074, 4],
  ["上海", "Shanghai", 31.2304, 121.4737, 4],
  ["香港", "Hong Kong", 22.3193, 114.1694, 4],
  ["台北", "Taipei", 25.033, 121.5654, 4],
  ["マニラ", "Manila", 14.5995, 120.9842, 4],
  ["バンコク", "Bangkok", 13.7563, 100.5018, 4],
  ["シンガポール", "Singapore", 1.3521, 103.8198, 4],
  ["ジャカルタ", "Jakarta", -6.2088, 106.8456, 4],
  ["ハノイ", "Hanoi", 21.0278, 105.8342, 5],
  ["デリー", "Delhi", 28.6139, 77.209, 4],
  ["ムンバイ", "Mumbai", 19.076, 72.8777, 4],
  ["ドバイ", "Dubai", 25.2048, 55.2708, 4],
  ["イスタンブール", "Istanbul", 41.0082, 28.9784, 4],
  ["モスクワ", "Moscow", 55.7558, 37.6173, 3],
  ["ウラジオストク", "Vladivostok", 43.1155, 131.8855, 6],
  ["ベルリン", "Berlin", 52.52, 13.405, 5],
  ["パリ", "Paris", 48.8566, 2.3522, 4],
  ["ロンドン", "London", 51.5074, -0.1278, 3],
  ["マドリード", "Madrid", 40.4168, -3.7038, 4],
  ["ローマ", "Rome", 41.9028, 12.4964, 4],
  ["ウィーン", "Vienna", 48.2082, 16.3738, 5],
  ["ストックホルム", "Stockholm", 59.3293, 18.0686, 4],
  ["カイロ", "Cairo", 30.0444, 31.2357, 3],
  ["ナイロビ", "Nairobi", -1.2921, 36.8219, 3],
  ["ラゴス", "Lagos", 6.5244, 3.3792, 4],
  ["ケープタウン", "Cape Town", -33.9249, 18.4241, 3],
  ["ニューヨーク", "New York", 40.7128, -74.006, 3],
  ["ロサンゼルス", "Los Angeles", 34.0522, -118.2437, 3],
  ["サンフランシスコ", "San Francisco", 37.7749, -122.4194, 5],
  ["シアトル", "Seattle", 47.6062, -122.3321, 4],
  ["シカゴ", "Chicago", 41.8781, -87.6298, 4],
  ["トロント", "Toronto", 43.6532, -79.3832, 4],
  ["メキシコシティ", "Mexico City", 19.4326, -99.1332, 3],
  ["サンパウロ", "São Paulo", -23.5505, -46.6333, 3],
  ["ブエノスアイレス", "Buenos Aires", -34.6037, -58.3816, 3],
  ["リマ", "Lima", -12.0464, -77.0428, 4],
  ["シドニー", "Sydney", -33.8688, 151.2093, 3],
  ["オークランド", "Auckland", -36.8509, 174.7645, 4],
  ["ホノルル", "Honolulu", 21.3099, -157.8583, 4],
];

export const towns = rows.map(([ja, en, latitude, longitude, from]) => ({ ja, en, latitude, longitude, from }));

/** Returns a name in the form for comparison: without accents, signs and case. */
const plain = (text) => text.normalize("NFKD").replace(/[\p{M}\p{P}\s]/gu, "").toLowerCase();

/** A pair of degrees in a common format: "35.69, 139.70". */
const DEGREES = /^\s*(-?\d{1,2}(?:\.\d+)?)\s*[,\s]\s*(-?\d{1,3}(?:\.\d+)?)\s*$/;

/** Returns the target of a text: a town by its name or the beginning of it, or a pair of degrees. */
function locate(text) {
  const degrees = DEGREES.exec(text);
  if (degrees) {
    const [latitude, longitude] = [Number(degrees[1]), Number(degrees[2])];
    return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined;
  }

  const wanted = plain(text);
  if (!wanted) return undefined;
  const names = towns.map((town) => ({ town, names: [plain(town.ja), plain(town.en)] }));
  return (names.find(({ names }) => names.includes(wanted)) ?? names.find(({ names }) => names.some((name) => name.startsWith(wanted))))?.town;
}

/** A zoom that shows a town's centre, with room for a search of some 500 m. */
const ZOOM = 15;

/** `onJump({center, zoom})` is called with the target. */
export function startJump(onJump) {
  const form = document.getElementById("jump");
  const field = form.elements.town;

  document.getElementById("towns").replaceChildren(...towns.map((town) => el("option", { value: town[language] })));

  const go = () => {
    const found = locate(field.value);
    if (!found) return;
    field.value = "";
    field.blur();
    onJump({ center: { latitude: found.latitude, longitude: found.longitude }, zoom: ZOOM });
  };
  field.addEventListener("input", (event) => {
    field.setCustomValidity("");
    // A name selected from the list needs no further confirmation.
    if (event.inputType === undefined || event.inputType === "insertReplacementText") go();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() === "") return;
    if (locate(field.value)) return go();
    field.setCustomValidity(t("jump.unknown"));
    field.reportValidity();
  });
}
