package site_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/site"
)

// start is a beacon without its end.
const start = `{"site_key":"k","visitor_id":"v","name":"site_x"`

func TestRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		start + `}`: `{}`,
		start + `,"path":"/","title":"T\u0000<\"","utm_campaign":"","utm_medium":null,"unknown":{"a":[1]}}`: `{"path":"/","title":"T\u0000<\"","utm_campaign":""}`,
		start + `,"properties":{"b":true,"a":-1.5e3,"c":"ü"},"referrer":"r"}`:                               `{"referrer":"r","b":true,"a":-1.5e3,"c":"ü"}`,
		start + `,"properties":null}`: `{}`,
		start + `,"properties":{"path":"x","A":1,"_a":1,"a-b":1,"nul":null,"list":[],"object":{},"big":1e999,"` + strings.Repeat("a", 33) + `":1}}`: `{}`,
		start + `,"title":"` + strings.Repeat("ü", 2049) + `"}`:                                                                                     `{"title":"` + strings.Repeat("ü", 2048) + `"}`,
	} {
		b, err := site.Read([]byte(body))
		if err != nil || string(b.Properties) != want || b.Name != "site_x" || b.SiteKey != "k" || b.VisitorID != "v" {
			t.Errorf("%s: %+v %s, %v; want %s", body, b, b.Properties, err, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `null`, `[]`, `{}`, start, start + `}{}`, start + `} x`, start + `,"name":"site_y"}`, start + `,"session_id":1}`, start + `,"path":1}`,
		start + `,"properties":[]}`, start + `,"properties":{"a":1,"a":2}}`, `{"site_key":"","visitor_id":"v","name":"n"}`, `{"site_key":"k","visitor_id":"v"}`,
		start + `,"event_id":"` + strings.Repeat("x", 257) + `"}`, start + `,"title":"` + strings.Repeat("x", site.MaxBody) + `"}`,
		start + ",\"title\":\"\xff\"}", start + `,"title":"\ud800"}`,
	} {
		if b, err := site.Read([]byte(body)); err == nil {
			t.Errorf("%.100s: %+v", body, b)
		}
	}
}

// FuzzRead checks that properties are always a JSON object with at most 16 members, each a
// text, a number or a boolean.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{``, start + `}`, start + `,"properties":{"a":1,"b":"x","c":true},"path":"/"}`, start + `,"title":"\u0000"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := site.Read(body)
		if err != nil {
			return
		}
		var properties map[string]any
		if err := json.Unmarshal(b.Properties, &properties); err != nil || properties == nil || len(properties) > 16 || len(b.Properties) > 8*site.MaxBody {
			t.Fatalf("%q: %s, %v", body, b.Properties, err)
		}
		for name, value := range properties {
			switch value.(type) {
			case string, float64, bool:
			default:
				t.Fatalf("%q: %s is %T", body, name, value)
			}
		}
	})
}
