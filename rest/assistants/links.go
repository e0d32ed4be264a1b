package assistants

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// indented returns v as an indented JSON text, with & and < as they are.
func indented(v any) string { return encode(v, "  ") }

// compact returns v as JSON on one line, with & and < as they are.
func compact(v any) string { return encode(v, "") }

func encode(v any, indent string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err) // cannot happen: v consists of texts
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cursorLink returns the link that adds a server to Cursor. config is the server's entry in
// mcp.json.
func cursorLink(config any) string {
	query := url.Values{"name": {name}, "config": {base64.StdEncoding.EncodeToString([]byte(compact(config)))}}
	return "cursor://anysphere.cursor-deeplink/mcp/install?" + query.Encode()
}

// codeLink returns the link that adds a server to Visual Studio Code. config has the form
// of the option --add-mcp.
func codeLink(config any) string {
	return "vscode:mcp/install?" + strings.ReplaceAll(url.QueryEscape(compact(config)), "+", "%20")
}
