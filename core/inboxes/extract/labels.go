package extract

import "strings"

// codeWords has words that label a code, in lower case.
var codeWords = wordSet(`
	code codes passcode passcodes pin otp totp tan mtan smstan token password passphrase
	kennwort passwort einmalkennwort einmalpasswort
	codice codici código códigos codigo codigos clave contraseña senha parola
	kod kodu kodem kodun kodunuz kodunuzu kodunu kodi koden koda hasło haslo şifre şifreniz şifreni
	kode koden koodi koodin koodisi koodi: vahvistuskoodi lösenord engångslösenord wachtwoord
	kód kódu kódja kódot kóddal heslo jelszó cod codul parolă
	код кода коду кодом пароль паролем κωδικός κωδικό κωδικος mã
`)

// codeEndings are the ends of compounds that label a code, such as "Bestätigungscode".
var codeEndings = []string{"code", "kod", "koden", "kode", "koodi", "koodisi", "kód", "passwort", "kennwort", "код", "codes"}

// codeParts label a code anywhere in a text without spaces between words, or with prefixes.
var codeParts = []string{
	"验证码", "驗證碼", "校验码", "校驗碼", "动态码", "动态密码", "認證碼", "确认码", "確認碼", "登录码", "安全码",
	"確認コード", "認証コード", "セキュリティコード", "ワンタイムパスワード", "パスコード", "認証番号", "確認番号", "暗証番号", "コード",
	"인증번호", "인증 번호", "인증코드", "확인코드", "보안코드", "코드", "비밀번호",
	"รหัส", "رمز", "كود", "קוד", "कोड", "ओटीपी",
}

// otherParts are like codeParts, for numbers that are not codes. They are looked for first.
var otherParts = []string{
	"订单号", "订单编号", "訂單編號", "邮政编码", "优惠码", "优惠券码", "折扣码", "电话", "客服热线", "单号", "编号",
	"注文番号", "郵便番号", "クーポンコード", "プロモコード", "プロモーションコード", "電話番号", "お問い合わせ番号", "会員番号", "商品コード", "伝票番号", "電話",
	"주문번호", "쿠폰코드", "할인코드", "우편번호", "전화",
}

// otherWords label numbers that are not codes, in lower case.
var otherWords = wordSet(`
	order orders invoice receipt reference ref ticket case tracking shipment parcel booking reservation zip phone tel fax call hotline whatsapp
	mobile ending customer transaction payment amount total price balance no nr vat ref-nr iban sku article item
	bestellung bestellnummer auftrag auftragsnummer rechnung rechnungsnummer kundennummer vorgangsnummer vertragsnummer sendungsnummer sendung plz postleitzahl telefon endet betrag summe telefonnummer ticketnummer referenz aktenzeichen buchungsnummer
	commande facture référence dossier client suivi téléphone montant colis réservation cedex
	pedido factura referencia envío teléfono importe cliente telefone fatura encomenda nota valor cep
	ordine fattura riferimento telefono importo spedizione cap prenotazione
	bestelling bestelnummer factuur factuurnummer klantnummer telefoon postcode bedrag
	zamówienie zamówienia zamówieniu faktura faktury telefonu kwota numer
	заказ заказа заказу счёт счет телефон сумма номер индекс
	ordernummer kundnummer fakturanummer ordre ordrenummer tilaus tilausnumero objednávka objednávky číslo sipariş rendelés comandă đơn pesanan
	copyright
`)

// beforeOther are words before "code" that make it another code, such as "postal code".
var beforeOther = wordSet(`
	postal zip post discount coupon voucher gift referral area country dial dialing error status
	qr bar source dress product item swift bic sort tax company building offer rabatt gutschein aktions fehler artikel
	slevový indirim posta
`)

// afterOther are words after "code", perhaps with a preposition between them.
var afterOther = wordSet(`
	postal postale réduction reduction descuento desconto sconto cupón cupom
	parrainage pocztowy rabatowy źródłowy source barre barres erreur error errore pays conduct fiscal fiscale
	скидки скидку товара ошибки
`)

// prepositions may stand between "code" and a word of afterOther.
var prepositions = wordSet(`de di of do da del`)

// otherStems begin compounds that end like a code and are none, such as "Gutscheincode".
var otherStems = []string{
	"gutschein", "rabatt", "rabat", "aktions", "promo", "coupon", "kupon", "kupong", "zip", "post", "bar", "qr", "strich", "fehler", "länder", "produkt",
	"artikel", "kortings", "kampanj", "alennus", "промо", "штрих", "quell", "source", "werbe", "empfehlungs",
}

// verbs may stand between a label and its code.
var verbs = wordSet(`
	is are : = ist lautet sind est sont es son é è sono jest to är er on ye as als comme como come jako som как là adalah este je van bu है は です 是 为 為 é: e
`)

// units follow a number that counts something.
var units = wordSet(`
	minutes minute mins min hours hour hrs seconds sec days day weeks months years year times users people points members items words characters digits km kg mb gb kb ml m ft percent
	minuten stunden sekunden tage tagen jahre uhr punkte personen
	minutos horas segundos días dias puntos pontos heures secondes jours minuti ore secondi giorni
	минут минуты часов часа секунд дней минуту minut godzin sekund dni
	usd eur gbp chf pln zł kr sek nok dkk czk kč huf ft руб rub jpy cny inr rs brl try lei ron
`)

// unitParts are characters that directly follow a number that counts something.
const unitParts = "円元원年月日分時时秒人点點個个件名岁歳%％€£¥₽₺₹₩℃°"

// currencies are characters that stand before an amount.
const currencies = "$€£¥₽₺₹₩"

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// label is a word that says what the numbers near it are.
type label struct {
	start, end int
	// code is true if they are codes.
	code bool
	text string
}

// labels returns the labels of a line in their order.
func (l *line) findLabels() {
	for i, t := range l.tokens {
		if t.joined {
			l.partLabels(t)
			continue
		}
		word := l.words[i]
		switch {
		case codeWords[word], word == "passe" && i > 1 && l.words[i-2] == "mot":
			l.labels = append(l.labels, label{t.start, t.end, !l.isOther(i), word})
		case otherWords[word]:
			l.labels = append(l.labels, label{t.start, t.end, false, word})
		case isCompound(word):
			l.labels = append(l.labels, label{t.start, t.end, !hasStem(word) && !l.isOther(i), word})
		default:
			l.partLabels(t)
		}
	}
}

// isOther reports whether the words around a word such as "code" make it another code.
func (l *line) isOther(i int) bool {
	if i > 0 && (beforeOther[l.words[i-1]] || isPromotion(l.words[i-1])) {
		return true
	}
	next := i + 1
	if next < len(l.words) && prepositions[l.words[next]] {
		next++
	}
	return next < len(l.words) && (afterOther[l.words[next]] || isPromotion(l.words[next]))
}

// isPromotion reports whether a word of any language is about a promotion.
func isPromotion(word string) bool {
	return strings.HasPrefix(word, "promo") || strings.HasPrefix(word, "promó")
}

func isCompound(word string) bool {
	for _, end := range codeEndings {
		if strings.HasSuffix(word, end) && len(word) > len(end)+2 {
			return true
		}
	}
	return false
}

func hasStem(word string) bool {
	for _, stem := range otherStems {
		if strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}

// partLabels adds the first label that is a part of a token.
func (l *line) partLabels(t token) {
	text := l.text[t.start:t.end]
	if len(text) < 4 || text[0] < 0x80 {
		return
	}
	for _, parts := range [][]string{otherParts, codeParts} {
		for _, part := range parts {
			if i := strings.LastIndex(text, part); i >= 0 {
				l.labels = append(l.labels, label{t.start + i, t.start + i + len(part), &parts[0] == &codeParts[0], part})
				return
			}
		}
	}
}
