package extract

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/inbound/htmltext"
)

// kindStems has parts of words, in lower case, that say what a link is for. The kinds are
// tried in this order.
var kindStems = []struct {
	kind  Kind
	stems []string
}{
	{Unsubscribe, []string{
		"unsubscribe", "opt out", "opt-out", "abbestell", "newsletter abmelden", "vom newsletter", "austragen", "désabonn", "desabonn", "désinscri", "désinscription", "darse de baja", "darte de baja",
		"cancelar la suscripción", "cancelar suscripción", "cancelar inscri", "descadastr", "cancelar a subscri", "disiscri", "annulla iscrizione", "annulla l'iscrizione", "cancella l'iscrizione", "uitschrijv", "afmelden",
		"wypisz", "zrezygnuj", "anuluj subskrypcj", "отписаться", "отписк", "відписа", "配信停止", "購読解除", "購読を停止", "退订", "退訂", "取消订阅", "取消訂閱", "수신거부", "수신 거부", "구독 취소", "avregistrera", "avprenumerera",
		"afmeld", "avmeld", "peruuta tilaus", "odhlásit odběr", "leiratkoz", "dezabon", "abonelikten", "hủy đăng ký", "berhenti berlangganan",
	}},
	{Reset, []string{
		"reset", "forgot", "new password", "change password", "change your password", "set a password", "set password", "recover", "zurücksetzen", "neues passwort", "passwort ändern", "réinitialis", "reinitialis", "nouveau mot de passe",
		"restablecer", "nueva contraseña", "recuperar", "redefinir", "nova senha", "ripristin", "reimposta", "nuova password", "wachtwoord", "zresetuj", " hasło", "zmień hasło", "сброс", "восстанов", "новый пароль",
		"再設定", "リセット", "重置", "重設", "재설정", "återställ", "nulstil", "tilbakestill", "vaihda salasana", "obnovit heslo", "sıfırla", "đặt lại",
	}},
	{Confirm, []string{
		"confirm", "verify", "verification", "validat", "activat", "complete your registration", "complete registration", "finish signing up", "bestätig", "verifizier", "aktivier", "freischalt", "vérifi", "verifi", "valider", "activer",
		"activar", "ativar", "validar", "validez", "activez", "conferma", "verifica", "attiva", "bevestig", "activeer", "potwierd", "aktywuj", "zweryfik", "подтверд", "активир", "підтверд",
		"確認", "認証", "本登録", "有効化", "登録を完了", "验证", "驗證", "确认", "激活", "인증", "확인", "bekräft", "bekræft", "bekreft", "vahvista", "potvrd", "ověř", "aktivovat", "megerős", "confirmă", "doğrula", "onayla", "xác nhận", "xác minh",
	}},
	{SignIn, []string{
		"sign in", "signin", "sign-in", "log in", "login", "log-in", "magic link", "magic-link", "magiclink", "anmelden", "einloggen", "se connecter", "connexion", "connectez", "iniciar sesión", "inicia sesión", "acceder", "entrar", "acessar", "accedi",
		"inloggen", "zaloguj", "logowan", "войти", "вход", "увійти", "ログイン", "サインイン", "登录", "登錄", "登入", "로그인", "logga in", "log ind", "logg inn", "kirjaudu", "přihlásit", "bejelentkez", "giriş yap", "đăng nhập",
	}},
}

// pathWords has words in paths and queries that say what a link is for.
var pathWords = map[string]Kind{
	"unsubscribe": Unsubscribe, "optout": Unsubscribe, "unsub": Unsubscribe, "abmelden": Unsubscribe, "desinscription": Unsubscribe,
	"reset": Reset, "recovery": Reset, "recover": Reset, "resetpassword": Reset, "forgot": Reset, "passwordreset": Reset,
	"confirm": Confirm, "confirmation": Confirm, "verify": Confirm, "verification": Confirm, "activate": Confirm, "activation": Confirm, "verifyemail": Confirm, "validate": Confirm, "signup": Confirm,
	"login": SignIn, "signin": SignIn, "magic": SignIn, "magiclink": SignIn, "sso": SignIn, "otl": SignIn,
}

// links returns the links of a mail.
func links(text string, document htmltext.Document) []Link {
	c := linkCollector{seen: map[string]int{}}
	previous := 0
	for _, l := range document.Links {
		c.add(l.Address, oneLine(l.Text), lastLine(document.Text[min(previous, l.Start):l.Start]))
		previous = l.End
	}
	c.plain(text)
	return c.chosen()
}

// linkCollector collects links, each address once.
type linkCollector struct {
	all  []Link
	seen map[string]int
	// tries is the number of addresses that were looked at.
	tries int
}

// add adds a link. context is the text before it.
func (c *linkCollector) add(address, label, context string) {
	if c.tries++; c.tries > 10*candidate {
		return
	}
	if i, again := c.seen[address]; again && c.all[i].Kind != Other && c.all[i].Text != "" {
		return
	}
	address, ok := webAddress(address)
	if !ok {
		return
	}
	kind := kindOf(label, context, address)
	if i, again := c.seen[address]; again {
		if c.all[i].Kind == Other {
			c.all[i].Kind = kind
		}
		if c.all[i].Text == "" {
			c.all[i].Text = label
		}
		return
	}
	if len(c.all) >= candidate {
		return
	}
	c.seen[address] = len(c.all)
	c.all = append(c.all, Link{URL: address, Text: label, Kind: kind})
}

// webAddress returns an http or https address without spaces around it.
func webAddress(address string) (string, bool) {
	address = strings.TrimSpace(address)
	if len(address) > maxURL || len(address) < len("http://a") {
		return "", false
	}
	if strings.ContainsFunc(address, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == utf8.RuneError }) {
		return "", false
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "", false
	}
	if scheme := strings.ToLower(parsed.Scheme); scheme != "http" && scheme != "https" {
		return "", false
	}
	return address, true
}

// plain adds the addresses in plain text.
func (c *linkCollector) plain(text string) {
	previous := ""
	for line := range strings.SplitSeq(text, "\n") {
		context := previous
		rest := line
		for len(c.all) < candidate {
			i := strings.Index(rest, "://")
			if i < 0 {
				break
			}
			start := i - schemeLength(rest[:i])
			if start == i {
				rest = rest[i+3:]
				continue
			}
			if before := strings.Trim(rest[:start], " <([\t*-:>"); before != "" {
				context = before
			}
			end := start + addressLength(rest[start:])
			c.add(trimAddress(rest[start:end]), "", lastLine(context))
			rest = rest[max(end, i+3):]
			context = ""
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" {
			previous = trimmed
		}
	}
}

// schemeLength returns the length of "http" or "https" at the end of s, or 0.
func schemeLength(s string) int {
	for _, scheme := range []string{"https", "http"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[len(s)-len(scheme):], scheme) {
			return len(scheme)
		}
	}
	return 0
}

// addressLength returns the length of the address at the beginning of s.
func addressLength(s string) int {
	for i, r := range s {
		if i > maxURL {
			return i
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"`{}|\\^「」『』（）【】，。、；！？", r) {
			return i
		}
	}
	return len(s)
}

// trimAddress removes punctuation that belongs to the sentence around an address.
func trimAddress(s string) string {
	for s != "" {
		switch last := s[len(s)-1]; {
		case strings.IndexByte(".,;:!?'*_", last) >= 0:
		case last == ')' && strings.Count(s, "(") < strings.Count(s, ")"):
		case last == ']' && strings.Count(s, "[") < strings.Count(s, "]"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// lastLine returns the last line of the text between two links, at most 100 bytes.
func lastLine(text string) string {
	text = text[max(0, len(text)-100):]
	if i := strings.LastIndexByte(strings.TrimRight(text, "\n "), '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.ToValidUTF8(text, "")
}

// kindOf returns the kind of a link: by its text, else by its address, else by the text
// before it if its own text is short.
func kindOf(label, context, address string) Kind {
	if kind := kindOfText(label); kind != Other {
		return kind
	}
	if kind := kindOfAddress(address); kind != Other {
		return kind
	}
	if utf8.RuneCountInString(label) <= 24 || strings.Contains(label, "://") {
		return kindOfText(context)
	}
	return Other
}

func kindOfText(text string) Kind {
	if text == "" || strings.Contains(text, "://") {
		return Other
	}
	text = strings.ToLower(text)
	best := len(kindStems)
	for i := range len(text) {
		for _, s := range stemsByByte[text[i]] {
			if s.kind < best && strings.HasPrefix(text[i:], s.text) {
				best = s.kind
			}
		}
	}
	if best == len(kindStems) {
		return Other
	}
	return kindStems[best].kind
}

// stem is a stem of kindStems. kind is the index of its kind.
type stem struct {
	text string
	kind int
}

// stemsByByte has the stems by their first byte, those of earlier kinds first.
var stemsByByte = func() (index [256][]stem) {
	for kind, k := range kindStems {
		for _, text := range k.stems {
			index[text[0]] = append(index[text[0]], stem{text, kind})
		}
	}
	return index
}()

// kindOfAddress looks at the words of the path and the query. The host is left out, because
// "login.example.com" has links of every kind.
func kindOfAddress(address string) Kind {
	parsed, err := url.Parse(address)
	if err != nil {
		return Other
	}
	found := Other
	for word := range strings.FieldsFuncSeq(strings.ToLower(parsed.Path+"?"+parsed.RawQuery), func(r rune) bool { return r < 'a' || r > 'z' }) {
		kind, ok := pathWords[word]
		if !ok {
			continue
		}
		if kind == Unsubscribe || kind == Reset {
			return kind
		}
		if found == Other || found == SignIn {
			found = kind
		}
	}
	return found
}

// chosen returns at most maxLinks links in their order, those of a known kind first.
func (c *linkCollector) chosen() []Link {
	if len(c.all) <= maxLinks {
		return c.all
	}
	known := 0
	for _, l := range c.all {
		if l.Kind != Other {
			known++
		}
	}
	others := max(0, maxLinks-known)
	var chosen []Link
	for _, l := range c.all {
		if l.Kind == Other {
			if others == 0 {
				continue
			}
			others--
		}
		if len(chosen) < maxLinks {
			chosen = append(chosen, l)
		}
	}
	return chosen
}

// oneLine returns the text of a link on one line, at most maxLabel bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(normalizeSpaces(s)), " ")
	if len(s) > maxLabel {
		return strings.ToValidUTF8(s[:maxLabel], "")
	}
	return s
}

// normalizeSpaces replaces control characters by spaces.
func normalizeSpaces(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
