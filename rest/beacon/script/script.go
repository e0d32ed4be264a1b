package script

import (
	_ "embed"
	"encoding/json"
	"strings"
)

var (
	//go:embed mailhelm.js
	javaScript []byte
	//go:embed mailhelm.d.ts
	types []byte
	//go:embed tag.html
	tag string
)

// The paths of the script and of its types at the base URL of the API. The script sends its
// beacons to "visit" in the same folder.
const (
	JavaScriptPath = "/s/mailhelm.js"
	TypesPath      = "/s/mailhelm.d.ts"
)

// JavaScript returns the script in UTF-8. The caller must not change it.
func JavaScript() []byte { return javaScript }

// Types returns the TypeScript declarations of the script in UTF-8. The caller must not
// change them.
func Types() []byte { return types }

// Tag returns the HTML that customers put into the head of their pages. It loads the script
// of the server at baseURL if the page has the cookie with a visitor id. baseURL is the base
// URL of the API, without a trailing slash.
func Tag(baseURL, siteKey string) string {
	return strings.NewReplacer("{{src}}", literal(baseURL+JavaScriptPath), "{{siteKey}}", literal(siteKey)).Replace(tag)
}

// literal returns the text as a JavaScript string that may stand in an HTML script element.
func literal(text string) string {
	encoded, err := json.Marshal(text) // it escapes <, > and &
	if err != nil {
		panic(err) // a string always has an encoding
	}
	return string(encoded)
}
