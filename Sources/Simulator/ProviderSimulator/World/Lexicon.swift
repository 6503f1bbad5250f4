/// The words from which names and addresses are composed. All are invented, so that no real place is described.
enum Lexicon {
    struct Word: Sendable {
        let japanese: String
        let kana: String
        let english: String

        init(_ japanese: String, _ kana: String, _ english: String) {
            (self.japanese, self.kana, self.english) = (japanese, kana, english)
        }
    }

    /// The first parts of restaurant names. A place stores the index in 4 bits.
    static let heads: [Word] = [
        Word("炭火焼鳥と個室", "すみびやきとりとこしつ", "Charcoal"), Word("海鮮酒場", "かいせんさかば", "Seafood"),
        Word("隠れ家ダイニング", "かくれがだいにんぐ", "Hideaway"), Word("", "", ""), Word("大衆", "たいしゅう", "Popular"),
        Word("", "", ""), Word("ＤＩＮＩＮＧ　", "だいにんぐ　", "Dining"), Word("肉バル　", "にくばる　", "Meat"), Word("", "", ""),
        Word("ﾋﾞｽﾄﾛ ", "びすとろ ", "Bistro"), Word("Cafe & Bar ", "かふぇあんどばー ", "Cafe & Bar"), Word("", "", ""),
        Word("創作和食　", "そうさくわしょく　", "Creative"), Word("路地裏", "ろじうら", "Alley"),
        Word("北海道", "ほっかいどう", "Hokkaido"), Word("ＴＨＥ　", "ざ　", "The"),
    ]

    /// The main parts of names. A place stores the index in 5 bits.
    static let cores: [Word] = [
        Word("まる福", "まるふく", "Marufuku"), Word("とり助", "とりすけ", "Torisuke"), Word("さくら庵", "さくらあん", "Sakura-an"),
        Word("彩", "いろどり", "Irodori"), Word("月の舟", "つきのふね", "Tsuki no Fune"), Word("風見鶏", "かざみどり", "Kazamidori"),
        Word("海神丸", "かいじんまる", "Kaijinmaru"), Word("銀の鈴", "ぎんのすず", "Gin no Suzu"), Word("蔵人", "くらうど", "Kuraudo"),
        Word("空色食堂", "そらいろしょくどう", "Sorairo"), Word("ひなた", "ひなた", "Hinata"), Word("波音", "なみおと", "Namioto"),
        Word("森のテラス", "もりのてらす", "Mori Terrace"), Word("赤とんぼ", "あかとんぼ", "Akatombo"), Word("七福", "しちふく", "Shichifuku"),
        Word("石畳", "いしだたみ", "Ishidatami"), Word("灯り", "あかり", "Akari"), Word("麦わら", "むぎわら", "Mugiwara"),
        Word("三日月", "みかづき", "Mikazuki"), Word("喜楽", "きらく", "Kiraku"), Word("青い鳥", "あおいとり", "Aoi Tori"),
        Word("豆の木", "まめのき", "Mamenoki"), Word("小町", "こまち", "Komachi"), Word("水車", "すいしゃ", "Suisha"),
        Word("オリーブ", "おりーぶ", "Olive"), Word("ルミエール", "るみえーる", "Lumière"), Word("Stella", "すてら", "Stella"),
        Word("ＡＲＯＭＡ", "あろま", "AROMA"), Word("ﾎﾟﾙﾄ", "ぽると", "Porto"), Word("琥珀", "こはく", "Kohaku"),
        Word("紅葉", "もみじ", "Momiji"), Word("五右衛門", "ごえもん", "Goemon"),
    ]

    /// The quarters of towns.
    static let districts: [Word] = [
        Word("栄町", "さかえちょう", "Sakaecho"), Word("本町", "ほんちょう", "Honcho"), Word("緑町", "みどりちょう", "Midoricho"),
        Word("新町", "しんまち", "Shinmachi"), Word("桜台", "さくらだい", "Sakuradai"), Word("旭町", "あさひちょう", "Asahicho"),
        Word("宮前", "みやまえ", "Miyamae"), Word("川端町", "かわばたちょう", "Kawabatacho"), Word("東町", "ひがしまち", "Higashimachi"),
        Word("西通", "にしどおり", "Nishidori"), Word("大手町通", "おおてまちどおり", "Otemachidori"),
        Word("若松町", "わかまつちょう", "Wakamatsucho"),
        Word("錦町", "にしきちょう", "Nishikicho"), Word("春日", "かすが", "Kasuga"), Word("中央", "ちゅうおう", "Chuo"),
        Word("南台", "みなみだい", "Minamidai"),
    ]

    /// Opening hours as free text, in the style of real shops.
    static let openings = [
        "月～日、祝日、祝前日: 17:00～翌0:00 （料理L.O. 23:00 ドリンクL.O. 23:30）",
        "月～金、祝前日: 11:30～14:30 （料理L.O. 14:00）17:00～23:00 （料理L.O. 22:00）土、日、祝日: 11:30～22:30 （料理L.O. 21:30）",
        "火～日、祝日、祝前日: 11:00～15:00 （料理L.O. 14:30 ドリンクL.O. 14:30）17:30～22:00 （料理L.O. 21:00 ドリンクL.O. 21:30）",
        "月～木: 16:00～翌2:00 （料理L.O. 翌1:00 ドリンクL.O. 翌1:30）金、土、祝前日: 16:00～翌5:00 （料理L.O. 翌4:00）日、祝日: 15:00～23:00",
        "月～日、祝日、祝前日: 10:00～21:00", "",
    ]
    static let closings = ["なし", "年末年始", "月（祝日の場合は翌日）", "不定休", "日、祝日", "水　※貸切のご予約は承ります", ""]
    static let catches = [
        "★2時間飲み放題付きコース3500円〜★", "駅近の隠れ家！大切な人と過ごす夜に", "旬の食材を使った一皿をどうぞ", "ランチも好評♪テラス席あり",
        "産地直送の鮮魚を毎日仕入れ　宴会は40名様まで", "", "一人でも入りやすいｶｳﾝﾀｰ席", "心も満たされる、ここだけの味  ", "記念日・誕生日に♪メッセージ付きプレート",
    ]
    static let memos = [
        "ご不明な点はお電話にてお気軽にお問い合わせください。", "", "詳しくはスタッフまでお尋ねください。ご予算・人数に合わせてご用意いたします。",
        "アレルギーをお持ちの方は事前にお知らせください。ご予約の際にご相談を承ります。", "お席は2時間制とさせていただいております。予めご了承ください。",
        "記念日のサプライズなど、ご要望がございましたらお気軽にご相談くださいませ。",
    ]
    static let remarks = [
        "", "", " ：詳細は店舗まで", "", " ：ご予約時にお申し付けください", "", "", " ：10名様より承ります", "", " ：お気軽にご相談ください。", "",
    ]
    static let rightToLeft = ["مقهى النخيل", "مطعم الياسمين", "קפה הים", "کافه باران"]
    static let emoji = ["🍜", "🍣", "🍺", "🌸", "🍖", "☕️", "🎉", "👨‍🍳"]
    static let authors = ["山本 はる", "Kenji M.", "さとう🌸", "A. Okafor", "林田", "Mina Lee", "ليلى", "T. N."]
}
