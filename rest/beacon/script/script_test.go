package script_test

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/beacon/script"
)

// maxCompressed is the promised bound of the script's size.
const maxCompressed = 4000

// TestCompressedSize counts the bytes of the script at the default level of gzip.
func TestCompressedSize(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(script.JavaScript()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d compressed", len(script.JavaScript()), out.Len())
	if out.Len() >= maxCompressed || out.Len() < 1000 {
		t.Errorf("the script has %d bytes compressed, want less than %d", out.Len(), maxCompressed)
	}
}

// TestNoForbiddenCalls checks that the script neither compiles text nor writes cookies or
// local storage. The tests in a browser check what it does.
func TestNoForbiddenCalls(t *testing.T) {
	t.Parallel()
	for _, forbidden := range []string{`\beval\b`, `\bFunction\(`, `innerHTML`, `localStorage`, `indexedDB`, `document\.cookie\s*=`, `setTimeout\(\s*"`, `(?m)^(import|export)\b`} {
		if found := regexp.MustCompile(forbidden).Find(script.JavaScript()); found != nil {
			t.Errorf("the script contains %q", found)
		}
	}
}

func TestTagEscapesValues(t *testing.T) {
	t.Parallel()
	tag := script.Tag("https://api.example.com", `</script>"pk`)
	if strings.Count(tag, "</script>") != 1 || !strings.Contains(tag, `siteKey: "\u003c/script\u003e\"pk"`) {
		t.Errorf("the site key is not escaped:\n%s", tag)
	}
	if !strings.Contains(tag, `("https://api.example.com/s/mailhelm.js", {`) || strings.Contains(tag, "{{") {
		t.Errorf("the address is missing:\n%s", tag)
	}
}

// TestTypesNameTheMembers compares the names of the options and methods in the types with
// those in the script.
func TestTypesNameTheMembers(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`(?m)^  (\w+)(\?:|:|\()`).FindAllSubmatch(script.Types(), -1)
	var names []string
	for _, m := range declared {
		if name := string(m[1]); name != "mailhelm" { // the member of Window
			names = append(names, name)
		}
	}
	want := []string{"siteKey", "cookieName", "visitorId", "requireConsent", "endpoint", "init", "track", "consent"}
	if !slices.Equal(names, want) {
		t.Errorf("the types declare %q, want %q", names, want)
	}
	options := regexp.MustCompile(`const \{ (.*) \} = Object\(given\);`).FindSubmatch(script.JavaScript())
	if options == nil || string(options[1]) != strings.Join(want[:5], ", ") {
		t.Errorf("the script reads the options %q, want %q", options, want[:5])
	}
	for _, method := range want[5:] {
		if !regexp.MustCompile(`(?m)^    ` + method + `\(`).Match(script.JavaScript()) {
			t.Errorf("the script lacks the method %s", method)
		}
	}
}
