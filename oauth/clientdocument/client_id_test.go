package clientdocument

import (
	"net/url"
	"strings"
	"testing"
)

var goodIDs = []string{
	"https://app.example/client.json", "https://app.example/", "https://app.example:8443/a/b/", "https://a-1.xn--bcher-kva.example/c",
	"https://app.example/a//b", "https://app.example/~x/%20y/%C3%BC/%2F", "https://app.example/a/...", "https://app.example/@v:1,2;3='!'*()$&+",
	"https://192.0.2.1/c", "https://[2001:db8::1]:444/c", "https://0xapp.example/c",
}

// badIDs maps invalid client ids to a text that the error must contain.
var badIDs = map[string]string{
	"":                                                   "https://",
	"oc_live_abc":                                        "https://",
	"http://app.example/c":                               "https://",
	"HTTP://app.example/c":                               "https://",
	"//app.example/c":                                    "https://",
	" https://app.example/c":                             "https://",
	"https:/app.example/c":                               "https://",
	"https:app.example/c":                                "https://",
	"https://app.example":                                "path",
	"https://app.example?a":                              "query",
	"https://app.example/c?":                             "query",
	"https://app.example/c?a=b":                          "query",
	"https://app.example/c#":                             "fragment",
	"https://app.example#/c":                             "fragment",
	"https://u@app.example/c":                            "user",
	"https://u:p@app.example/c":                          "user",
	"https://@app.example/c":                             "user",
	"https://app.example/./c":                            ". or ..",
	"https://app.example/a/../c":                         ". or ..",
	"https://app.example/a/%2E%2e":                       ". or ..",
	"https://app.example/a/.%2e/c":                       ". or ..",
	"https://app.example/..":                             ". or ..",
	"https://app.example/%":                              "escape",
	"https://app.example/%2":                             "escape",
	"https://app.example/%zz":                            "escape",
	"https://app.example/%+1":                            "escape",
	"https://app.example/a b":                            "escaped",
	"https://app.example/a\\b":                           "escaped",
	"https://app.example/a\nb":                           "escaped",
	"https://app.example/ü":                              "escaped",
	"https://app.example/<b>":                            "escaped",
	"https://app.example/a\x00":                          "escaped",
	"https://app.example:0/c":                            "port",
	"https://app.example:/c":                             "port",
	"https://app.example:99999/c":                        "port",
	"https://app.example:0443/c":                         "port",
	"https://app.example:+443/c":                         "port",
	"https://app.example:1:2/c":                          "name of a host",
	"https:///c":                                         "name of a host",
	"https://:443/c":                                     "name of a host",
	"https://app.example./c":                             "name of a host",
	"https://.example/c":                                 "name of a host",
	"https://a..example/c":                               "name of a host",
	"https://-a.example/c":                               "name of a host",
	"https://a_b.example/c":                              "name of a host",
	"https://bücher.example/c":                           "name of a host",
	"https://app%2Eexample/c":                            "name of a host",
	"https://app.example\\@evil/c":                       "user",
	"https://app.example\\.evil/c":                       "name of a host",
	"https://2130706433/c":                               "name of a host", // 127.0.0.1, in one number
	"https://0x7f000001/c":                               "name of a host",
	"https://0x7f.1/c":                                   "name of a host",
	"https://0177.0.0.1/c":                               "name of a host",
	"https://127.1/c":                                    "name of a host",
	"https://127.0.0.0x1/c":                              "name of a host",
	"https://127.0.0.1./c":                               "name of a host",
	"https://1.2.3.4.5/c":                                "name of a host",
	"https://256.1.1.1/c":                                "name of a host",
	"https://[::1/c":                                     "name of a host",
	"https://[::1%25lo]/c":                               "name of a host",
	"https://[::1%lo]/c":                                 "name of a host",
	"https://[0:0:0:0:0:0:0:1]/c":                        "name of a host",
	"https://[127.0.0.1]/c":                              "name of a host",
	"https://::1/c":                                      "name of a host",
	"HTTPS://app.example/c":                              "canonical",
	"https://APP.example/c":                              "canonical",
	"https://app.example:443/c":                          "canonical",
	"https://app.example/%7Ec":                           "canonical",
	"https://app.example/%61":                            "canonical",
	"https://app.example/%c3%bc":                         "canonical",
	"https://app.example/" + strings.Repeat("a", 1000):   "1000",
	"https://" + strings.Repeat("a", 64) + ".example/c":  "name of a host",
	"https://" + strings.Repeat("a.", 130) + "example/c": "name of a host",
}

func TestClientIDForms(t *testing.T) {
	t.Parallel()
	for _, id := range goodIDs {
		u, err := readClientID(id)
		if err != nil || u.text != id {
			t.Errorf("%s: %v, %s", id, err, u.text)
		}
	}
	for id, want := range badIDs {
		_, err := readClientID(id)
		if err == nil {
			t.Errorf("%q passes", id)
			continue
		}
		wantRefusal(t, err, want)
	}
}

// TestCanonical checks that equivalent spellings of a client id have the same canonical
// form. Client ids that are different addresses must have different forms.
func TestCanonical(t *testing.T) {
	t.Parallel()
	const want = "https://app.example/~c/%C3%BC"
	for _, same := range []string{"HTTPS://App.Example:443/%7ec/%c3%bc", "https://app.example/~%63/%C3%bC", want} {
		if u, err := canonical(same); err != nil || u.text != want {
			t.Errorf("%s: %v, %s", same, err, u.text)
		}
	}
	for _, other := range []string{"https://app.example/~C/%C3%BC", "https://app.example/~c/%C3%BC/", "https://app.example//~c/%C3%BC", "https://app.example:444/~c/%C3%BC", "https://app.example%2F~c/%C3%BC"} {
		if u, err := canonical(other); err == nil && u.text == want {
			t.Errorf("%s is the same as %s", other, want)
		}
	}
}

// FuzzClientID checks that Go's URL parser reads every accepted client id as the same host
// and path. Otherwise the server could fetch from another host than the one that the
// consent page shows.
func FuzzClientID(f *testing.F) {
	for _, seed := range []string{"https://app.example/c", "https://[::ffff:127.0.0.1]:1/%2f", "HTTPS://A:443/%7e/..", "https://a@b/c?d#e", "https://127.1/"} {
		f.Add(seed)
	}
	public := newGuard(nil)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := canonical(text)
		if err != nil {
			wantRefusal(t, err, "")
			return
		}
		if again, err := canonical(u.text); err != nil || again != u {
			t.Fatalf("%q becomes %q and then %q, %v", text, u.text, again.text, err)
		}
		parsed, err := url.Parse(u.text)
		if err != nil || parsed.String() != u.text || parsed.Host != u.authority() || parsed.Scheme != "https" ||
			parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" || parsed.EscapedPath() != u.path || u.path[0] != '/' {
			t.Fatalf("%q becomes %q, which reads as %#v, %v", text, u.text, parsed, err)
		}
		if public.checkURL(u) == nil && (u.literal.IsValid() || u.port != "" || !strings.Contains(u.host, ".") || strings.ContainsAny(u.host, "[]:%@")) {
			t.Fatalf("%q may be fetched", u.text)
		}
	})
}
