package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestVisitIsSent opens a page with the tag and the cookie, by a link with secrets in its
// address. It checks every member of the beacons, that a second page sends no second visit,
// and that the script writes nothing but the marker of the session.
func TestVisitIsSent(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, `{{tag}}<script>
mailhelm.track("site_order", { total: 12.5, vip: true, note: "", gone: undefined, none: null, nan: NaN, "Bad Name": 1, list: [1], path: "/" });
loaded().then(() => { mailhelm.track("Bad name"); end(stored()); });
</script>`)
	w.pages["/start"] = `<script>location.replace("/?utm_source=mail&utm_medium=email&utm_campaign=autumn&token=secret#part")</script>`
	w.tab.Go(w.url + "/start?password=secret")
	w.tab.AwaitText("#result", "end: [")
	got := w.expect("so_session||so_vid", "site_visit", "site_order", "Bad name")
	visit, order := named(t, got, "site_visit"), named(t, got, "site_order")
	want := beacon{
		SiteKey: siteKey, VisitorID: visitorID, SessionID: visit.SessionID, EventID: visit.EventID, Name: "site_visit", Properties: map[string]any{},
		Path: "/", Referrer: w.url + "/start", Title: "Shop", UTMSource: "mail", UTMMedium: "email", UTMCampaign: "autumn",
	}
	if !reflect.DeepEqual(visit, want) {
		t.Errorf("the visit is\n%+v, want\n%+v", visit, want)
	}
	want.Name, want.EventID, want.Properties = "site_order", order.EventID, map[string]any{"total": 12.5, "vip": true, "note": ""}
	if !reflect.DeepEqual(order, want) {
		t.Errorf("the event is\n%+v, want\n%+v", order, want)
	}
	w.open("/?second")
	got = w.expect("so_session||so_vid", "site_visit", "site_order", "Bad name", "site_order", "Bad name")
	if last := got[len(got)-1]; last.SessionID != visit.SessionID || last.UTMSource != "" {
		t.Errorf("the second page has the session %s and the source %q", last.SessionID, last.UTMSource)
	}
}

// TestNothingWithoutCookie opens a page with the tag. Without the cookie, and with a cookie
// that is no visitor id, the script is not loaded, and the marker of a session is removed.
func TestNothingWithoutCookie(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, `<script>sessionStorage.setItem("so_session", "x")</script>{{tag}}
<script>for (let i = 0; i < 30; i++) mailhelm.track("site_order"); mailhelm.consent(true); end(stored() + mailhelm.length)</script>`)
	for _, c := range []struct{ cookie, names string }{
		{"", ""}, {"other_so_vid=" + visitorID, "other_so_vid"}, {"so_vid=1234", "other_so_vid,so_vid"},
	} {
		w.cookie = c.cookie
		w.open("/")
		w.open("/")                     // the first answer sets the cookie
		w.expect("||" + c.names + "12") // init, consent and ten calls of track
	}
	if w.loads != 0 {
		t.Errorf("the script was loaded %d times", w.loads)
	}
}

// pageCase is a page with the cookie, and what it sends and shows.
type pageCase struct {
	name, body, result string
	want               []string
}

// orders returns the names in more, and n times the name site_order.
func orders(n int, more ...string) []string {
	for range n {
		more = append(more, "site_order")
	}
	return more
}

// classic loads the script without the tag.
const classic = `<script src="{{api}}/s/mailhelm.js"></script>`

// pageCases have one page each.
var pageCases = []pageCase{
	{"ten calls before init are kept", classic + `<script>
for (let i = 0; i < 15; i++) mailhelm.track("site_order"); mailhelm.init({ siteKey: "{{key}}" }); end("")</script>`, "", orders(10, "site_visit")},
	{"ten calls before the script are kept", `{{tag}}<script>
for (let i = 0; i < 15; i++) mailhelm.track("site_order"); loaded().then(end)</script>`, "undefined", orders(10, "site_visit")},
	{"functions of the stub still work", `{{tag}}<script>
const { track } = mailhelm; loaded().then(() => { track("site_order"); end("") })</script>`, "", orders(1, "site_visit")},
	{"the tag and the script twice", `{{tag}}{{tag}}` + classic + classic + `<script>
mailhelm.track("site_order"); loaded().then(end)</script>`, "undefined", orders(1, "site_visit")},
	{"a module element", `<script type="module" src="{{api}}/s/mailhelm.js"></script><script type="module">
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order"); end("")</script>`, "", orders(1, "site_visit")},
	{"an import", `<script type="module">
import "{{api}}/s/mailhelm.js"; mailhelm.init({ siteKey: "{{key}}" });
mailhelm.init({ siteKey: "{{key}}", endpoint: "{{api}}/s/visit" }); mailhelm.track("site_order"); end("")</script>`, "", orders(1, "site_visit")},
	{"a wrong site key", classic + `<script>
mailhelm.init({ siteKey: "sk_secret" }); mailhelm.init(); mailhelm.track("site_order"); end(stored())</script>`, "||so_vid", nil},
	{"another cookie name", classic + `<script>
mailhelm.init({ siteKey: "{{key}}", cookieName: "a.b" }); mailhelm.track("site_order"); end(stored())</script>`, "||so_vid", nil},
	{"arguments that throw", classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order", { get a() { throw 1 } });
mailhelm.track({ toString() { throw 1 } }); mailhelm.track(Symbol()); mailhelm.consent(); end("")</script>`, "", []string{"site_visit", "Symbol()"}},
	{"the data layer", `<script>
dataLayer = [{ event: "gtm.js", name: "gtm" }, { name: "site_early", properties: { a: 1 } }, null, 7]</script>` + classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.init({ siteKey: "{{key}}" });
(function () { dataLayer.push(arguments) })("event", "site_not");
const length = dataLayer.push({ name: "site_late" }, { event: "purchase" }, { name: "view" }); end(length)</script>`, "8", []string{"site_visit", "site_early", "site_late"}},
	{"a data layer that is created later", classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); window.dataLayer = window.dataLayer || []; dataLayer.push({ name: "site_late" }); end("")</script>`, "", []string{"site_visit", "site_late"}},
	{"blocked storage", `<script>
for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError") } })</script>{{tag}}<script>
mailhelm.track("site_order"); loaded().then(() => { mailhelm.track("site_order"); end("") })</script>`, "", orders(2, "site_visit")},
	{"full storage", `<script>
for (let size = 1 << 23; size >= 1; size /= 2) try { for (let i = 0; ; i++) sessionStorage.setItem(size + "." + i, "x".repeat(size)) } catch {}</script>{{tag}}<script>
mailhelm.track("site_order"); loaded().then(() => end(sessionStorage.getItem("so_session")))</script>`, "null", orders(1, "site_visit")},
	{"a browser without sendBeacon", `<script>navigator.sendBeacon = undefined</script>` + classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order"); end("")</script>`, "", orders(1, "site_visit")},
	{"a browser whose queue of beacons is full", `<script>navigator.sendBeacon = () => false</script>` + classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order"); end("")</script>`, "", orders(1, "site_visit")},
	{"large values", classic + `<script>
document.title = "\u{1F600}".repeat(9000); const big = {}; for (let i = 0; i < 12; i++) big["p" + i] = "\u0001\udc00\u{1F600}".repeat(9000);
history.replaceState(null, "", "/" + "x".repeat(3000)); mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order", big); end("")</script>`, "", orders(1, "site_visit")},
	{"a page that is rendered before it is visited", `<script>
Object.defineProperty(document, "prerendering", { value: true, configurable: true })</script>` + classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_order");
const before = stored(); Object.defineProperty(document, "prerendering", { value: false });
document.dispatchEvent(new Event("prerenderingchange")); end(before)</script>`, "||so_vid", orders(1, "site_visit")},
	{"a sign-out in the page", classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); document.cookie = "so_vid=; Max-Age=0; Path=/; Secure"; mailhelm.track("site_order"); end(stored())</script>`, "||", []string{"site_visit"}},
	{"consent is missing", classic + `<script>
mailhelm.init({ siteKey: "{{key}}", requireConsent: true }); mailhelm.track("site_order"); dataLayer.push({ name: "site_layer" }); end(stored())</script>`, "||so_vid", nil},
	{"consent is refused and given", classic + `<script>
mailhelm.init({ siteKey: "{{key}}", requireConsent: true }); mailhelm.track("site_dropped"); mailhelm.consent(false); mailhelm.track("site_dropped");
mailhelm.consent(true); mailhelm.track("site_order"); end(stored())</script>`, "so_session||so_vid", orders(1, "site_visit")},
	{"consent is withdrawn", classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); mailhelm.consent(false); mailhelm.track("site_order"); end(stored())</script>`, "||so_vid", []string{"site_visit"}},
}

// TestPages opens the page of each case.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range pageCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWebsite(t, c.body)
			w.open("/")
			session := ""
			for _, b := range w.expect(c.result, c.want...) {
				if b.VisitorID != visitorID || session != "" && b.SessionID != session {
					t.Errorf("a beacon is of the visitor %s and the session %s", b.VisitorID, b.SessionID)
				}
				session = b.SessionID
			}
		})
	}
}

// TestConsentBeforeTheScript checks that a tag with requireConsent loads the script only
// after consent, and that calls of before are sent then.
func TestConsentBeforeTheScript(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, `<script>
{{consent}}mailhelm.track("site_order"); mailhelm.consent(false);
sleep(50).then(async () => { await end(document.querySelectorAll("script[async]").length + stored()); })
async function agree() { document.querySelector("#result").textContent = ""; mailhelm.consent(true); await loaded(); await end(stored()) }
</script><input type="checkbox" id="agree"><script>document.querySelector("#agree").onclick = agree</script>`)
	w.pages["/"] = strings.Replace(w.pages["/"], "{{consent}}", strings.Replace(w.fill("{{tag.js}}"), "{\n  siteKey", "{ requireConsent: true, siteKey", 1), 1)
	w.open("/")
	w.expect("0||so_vid")
	if w.loads != 0 {
		t.Error("the script was loaded without consent")
	}
	w.tab.Mark("#agree")
	w.tab.AwaitText("#result", "end: [")
	w.expect("so_session||so_vid", "site_visit")
}

// TestStrictPolicies opens pages whose content security policies allow no inline script, no
// eval and no text as code.
func TestStrictPolicies(t *testing.T) {
	t.Parallel()
	const strict = "default-src 'none'; script-src 'self' {{api}}; connect-src {{api}} 'self'; img-src data:; base-uri 'none'; form-action 'none'"
	for name, policy := range map[string]string{
		`<script src="/tag.js"></script>`:            strict,
		classic + `<script src="/init.js"></script>`: strict + "; require-trusted-types-for 'script'; trusted-types 'none'",
		strings.Replace(`{{tag}}`, "", "", 1):        "default-src 'none'; script-src 'self' 'nonce-r4nd0m' {{api}}; connect-src {{api}} 'self'; img-src data:",
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newWebsite(t, name+`<script src="/page.js"></script>`)
			w.pages["/"] = strings.Replace(w.pages["/"], "{{tag}}", strings.Replace(w.fill("{{tag}}"), "<script>", `<script nonce="r4nd0m">`, 1), 1)
			w.pages["/tag.js"] = "{{tag.js}}"
			w.pages["/init.js"] = `mailhelm.init({ siteKey: "{{key}}" })`
			w.pages["/page.js"] = `mailhelm.track("site_order"); loaded().then(() => end(stored()))`
			w.policy = policy
			w.open("/")
			w.expect("so_session||so_vid", "site_visit", "site_order")
		})
	}
}

// TestSandboxedFrame opens a frame without an origin. There the cookie and the storage throw.
// The frame sends nothing, unless the page gives it the visitor id.
func TestSandboxedFrame(t *testing.T) {
	t.Parallel()
	const frame = `{{tag}}<script>
mailhelm.track("site_order");
const denied = [() => document.cookie, () => sessionStorage].map((f) => { try { f(); return "open" } catch (e) { return e.name } });
const sent = new URLSearchParams(location.search).has("sent");
(sent ? loaded() : sleep(50)).then(() => { mailhelm.track("site_order"); parent.postMessage(denied + self.origin, "*") })</script>`
	w := newWebsite(t, `<iframe sandbox="allow-scripts" src="/frame"></iframe><script>onmessage = (m) => end(m.data)</script>`)
	w.pages["/known"] = strings.Replace(w.pages["/"], "/frame", "/frame?sent", 1)
	w.pages["/frame"] = frame
	w.open("/")
	w.expect("SecurityError,SecurityErrornull")
	if w.loads != 0 {
		t.Error("the script was loaded without a cookie")
	}
	w.pages["/frame"] = strings.Replace(frame, "{{tag}}", strings.Replace(w.fill("{{tag}}"), "{\n  siteKey", `{ visitorId: "`+visitorID+`", siteKey`, 1), 1)
	w.open("/known")
	w.expect("SecurityError,SecurityErrornull", orders(2, "site_visit")...)
}

// TestOffline loses the network. Events of that time are not kept, no error reaches the page,
// and the visit is sent when the network is back.
func TestOffline(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, `<input type="checkbox" id="start"><input type="checkbox" id="back">`+classic+`<script>
onerror = onunhandledrejection = () => { document.title = "error" };
document.querySelector("#start").onclick = () => {
  mailhelm.init({ siteKey: "{{key}}" }); mailhelm.track("site_lost"); document.title = navigator.onLine + stored();
};
document.querySelector("#back").onclick = () => { mailhelm.track("site_order"); end(document.title) };
</script>`)
	w.tab.Go(w.url)
	w.tab.SetOffline(true)
	w.tab.Mark("#start")
	w.tab.SetOffline(false)
	w.tab.Mark("#back")
	w.tab.AwaitText("#result", "end: [")
	w.expect("false||so_vid", "site_visit", "site_order")
}

// TestVisitorsShareNoSession signs another visitor in, with and without a new page.
func TestVisitorsShareNoSession(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, `{{tag}}<script>loaded().then(() => end(""))</script>`)
	w.pages["/out"] = `{{tag}}<script>end("")</script>`
	w.pages["/in"] = classic + `<script>
mailhelm.init({ siteKey: "{{key}}" }); document.cookie = "so_vid={{visitor}}; Path=/; Secure"; mailhelm.track("site_order"); end("")</script>`
	w.open("/")
	w.cookie = "so_vid=; Max-Age=0; Path=/; Secure"
	w.open("/out")
	w.open("/out") // the first answer removes the cookie
	w.cookie = visitorCookie(otherVisitor)
	w.open("/in")
	got := w.expect("", orders(1, "site_visit", "site_visit", "site_visit")...)
	sessions, visitors := map[string]bool{}, ""
	for _, b := range got {
		if b.Name == "site_visit" {
			sessions[b.SessionID] = true
			visitors += b.VisitorID + " "
		}
	}
	if len(sessions) != 3 || strings.Count(visitors, visitorID) != 2 || strings.Count(visitors, otherVisitor) != 1 {
		t.Errorf("%d sessions of the visitors %s", len(sessions), visitors)
	}
	if last := named(t, got, "site_order"); last.VisitorID != visitorID {
		t.Errorf("the event is of %s", last.VisitorID)
	}
}

// TestUnreachableServer sends beacons to an address where no server listens, and to one that
// refuses them. The page sees no exception.
func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	w := newWebsite(t, classic+`<script>
let errors = 0; onerror = onunhandledrejection = () => { errors++ };
for (const endpoint of ["http://localhost:1/s/visit", "/missing", "::"]) {
  mailhelm.init({ siteKey: "{{key}}", endpoint }); mailhelm.track("site_order");
}
sleep(50).then(() => end(errors))</script>`)
	w.open("/")
	w.expect("0")
	for _, fault := range w.tab.Faults() {
		if !strings.Contains(fault, "ERR_") && !strings.Contains(fault, http.StatusText(http.StatusNotFound)) && !strings.Contains(fault, "answers 404") {
			t.Errorf("the browser complains: %s", fault)
		}
	}
}

// TestVisitBecomesActivity opens a page with the tag of a running product. The visit and the
// event become activities of the contact that the visitor id belongs to.
func TestVisitBecomesActivity(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Postgres: enginetest.Full()})
	key, err := p.Site.Settings.Create(t.Context(), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	p.Site.Changed(t.Context())
	answer := p.Send(t, product.Request{
		Method: http.MethodPost, URL: p.BaseURL + "/v1/contacts/identify", Bearer: p.Live.APIKey, Body: `{"email":"ada@example.com"}`,
	})
	visitor := regexp.MustCompile(`vis_[0-9a-z]{26}`).FindString(answer.Body)
	w := newWebsite(t, "")
	w.cookie = visitorCookie(visitor)
	w.pages["/"] = script.Tag(p.BaseURL, key.Value) + `<script>mailhelm.track("site_order", { total: 12 })</script>`
	w.tab.Go(w.url)
	product.Await(t, 20*time.Second, func() error {
		page := p.Send(t, product.Request{URL: p.BaseURL + "/v1/activities?contact=ada@example.com", Bearer: p.Live.APIKey}).Body
		var got struct {
			Data []struct {
				Name, Source string
				Properties   map[string]any
			}
		}
		if err := json.Unmarshal([]byte(page), &got); err != nil {
			return err
		}
		found := map[string]map[string]any{}
		for _, a := range got.Data {
			if a.Source == "site" {
				found[a.Name] = a.Properties
			}
		}
		if found["site_visit"]["title"] != "Shop" || found["site_order"]["path"] != "/" || found["site_order"]["total"] != 12.0 {
			return fmt.Errorf("the activities are %s", page)
		}
		return nil
	})
}
