package privacy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/privacy"
)

const contactID = "0199c0de-0000-7000-8000-000000000001"

func mentionOf(key string) privacy.Mention {
	return privacy.NewMention(privacy.Person{Key: key, ContactID: contactID}, privacy.Pseudonym{ID: "PSEUDONYM", Email: "p@erased.invalid"})
}

// TestMentions checks in which texts the address a+b&c@ex.com is mentioned, and that longer
// addresses that contain it are not.
func TestMentions(t *testing.T) {
	t.Parallel()
	encoded, err := json.Marshal("Ann <a+b&c@ex.com>, new\na+b&c@ex.com")
	if err != nil {
		t.Fatal(err)
	}
	mentioned := []string{
		"a+b&c@ex.com", "A+B&C@EX.com", "to a+b&c@ex.com.", "<a+b&c@ex.com>", `{"email":"a+b&c@ex.com"}`, string(encoded),
		"https://x.test/?e=a%2Bb%26c%40ex.com&n=1", "https://x.test/u/a+b&c@ex.com", "mailto:a+b&c@ex.com", "line\na+b&c@ex.com\n",
		"contact " + contactID, strings.ToUpper(contactID), "a+b&c@ex.com,a+b&c@ex.com", "a+b&c@ex.com a+b&c@ex.com",
	}
	for _, text := range mentioned {
		m := mentionOf("a+b&c@ex.com")
		if !m.Matches(text) {
			t.Errorf("%q is not a mention", text)
		}
		if redacted := m.Redact(text); m.Matches(redacted) || strings.Contains(strings.ToLower(redacted), "c@ex.com") {
			t.Errorf("%q becomes %q", text, redacted)
		}
	}
	for _, text := range []string{"", "xa+b&c@ex.com", "a+b&c@ex.community", "a+b&c@ex.com.au", "x.a+b&c@ex.com", "a+b&c@ex.com-x.test", "b&c@ex.com", contactID[1:]} {
		m := mentionOf("a+b&c@ex.com")
		if m.Matches(text) || m.Redact(text) != text {
			t.Errorf("%q is a mention and becomes %q", text, m.Redact(text))
		}
	}
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change      privacy.Change
		value, want string
	}{
		"text": {privacy.Redact, `{"id":"` + contactID + `","to":"A@ex.com"}`, `{"id":"PSEUDONYM","to":"p@erased.invalid"}`},
		"items keep their positions": {
			privacy.Items, `[{"email":"b@ex.com"},{"email":"A@ex.com","attributes":{"name":"Ann","age":44}},"x"]`, `[{"email":"b@ex.com"},{},"x"]`,
		},
		"outcomes keep their status": {
			privacy.Outcomes, `[{"index":0,"email":"b@ex.com"},{"index":1,"status":"created","email":"a@ex.com","errors":[{"m":"a"}]}]`,
			`[{"index":0,"email":"b@ex.com"},{"email":"","index":1,"status":"created"}]`,
		},
		"rows of a table": {
			privacy.Rows, `{"header":["Email","Name"],"rows":[["a@ex.com","Ann"],["b@ex.com","Bo"]],"size":9007199254740993}`,
			`{"header":["Email","Name"],"rows":[["b@ex.com","Bo"]],"size":9007199254740993}`,
		},
		"rows with cells": {
			privacy.Rows, `{"preview":[{"line":2,"cells":[{"value":"a@ex.com"},{"value":"Ann"}]}],"for":"a@ex.com"}`, `{"for":"p@erased.invalid","preview":[]}`,
		},
		"rows of others": {privacy.Rows, `{"b":1,"a":2}`, `{"b":1,"a":2}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := mentionOf("a@ex.com").Rewritten(test.change, test.value)
			if err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
	for _, change := range []privacy.Change{privacy.Items, privacy.Outcomes, privacy.Rows, privacy.Blank} {
		if got, err := mentionOf("a@ex.com").Rewritten(change, `[{"email":"a@ex.com"`); err == nil {
			t.Errorf("%s makes %q of invalid JSON", change, got)
		}
	}
}
