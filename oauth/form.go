package oauth

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxForm is the maximum size of a request body, in bytes.
const maxForm = 64 << 10

// readForm returns the parameters of a POST to the token, revocation or introspection
// endpoint. All parameters must be in a form-encoded body (RFC 6749 section 3.2). Only
// `resource` may occur twice (RFC 8707 section 2). Empty and unknown parameters are
// dropped.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, *refusal) {
	body, refused := readBody(w, r, "application/x-www-form-urlencoded")
	if refused != nil {
		return nil, refused
	}
	return parseForm(string(body))
}

// readBody returns the body of a POST. It fails for other methods, other media types than
// the one in want, query strings, compression and bodies over 64 KB.
func readBody(w http.ResponseWriter, r *http.Request, want string) ([]byte, *refusal) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST, OPTIONS")
		return nil, invalidRequest("This endpoint takes POST only.").withStatus(http.StatusMethodNotAllowed)
	}
	if r.URL.RawQuery != "" {
		return nil, invalidRequest("Send the parameters in the body. A query string ends up in logs, so none is accepted.")
	}
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != want {
		return nil, invalidRequest("The body must have the content type " + want + ".")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, invalidRequest("The body must not be compressed.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, invalidRequest("The body is larger than 64 KB.").withStatus(http.StatusRequestEntityTooLarge)
	}
	if err != nil {
		return nil, invalidRequest("The body ended early.")
	}
	return body, nil
}

// parseForm parses a form-encoded body. It fails for a broken encoding, repeated
// parameters, and values with control characters or invalid UTF-8. Empty and unknown
// parameters are dropped.
func parseForm(body string) (url.Values, *refusal) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, invalidRequest("The body is not form-encoded: a percent sign or a semicolon is out of place.")
	}
	form := make(url.Values, len(values))
	for name, all := range values {
		if !isText(name) {
			return nil, invalidRequest("The name of a parameter holds control characters or is not UTF-8.")
		}
		if len(all) > 1 && name != "resource" {
			return nil, invalidRequest("A parameter occurs twice" + nameIfKnown(name) + ". Only `resource` may occur more than once.")
		}
		for _, value := range all {
			if !isText(value) {
				return nil, invalidRequest("The value of a parameter holds control characters or is not UTF-8" + nameIfKnown(name) + ".")
			}
			if value != "" && slices.Contains(parameters, name) {
				form[name] = append(form[name], value)
			}
		}
	}
	return form, nil
}

// parameters are the known parameters; all others are dropped. The endpoints read
// client_assertion and client_assertion_type (RFC 7521) only to refuse them.
var parameters = []string{
	"grant_type", "client_id", "client_secret", "scope", "resource", "client_assertion", "client_assertion_type",
	"code", "redirect_uri", "code_verifier", "refresh_token", "token", "token_type_hint",
}

// nameIfKnown returns a parameter's name for an error message. It returns "" for an unknown
// name, which may be a misplaced secret.
func nameIfKnown(name string) string {
	if slices.Contains(parameters, name) {
		return ": `" + name + "`"
	}
	return ""
}

// isText reports whether s is valid UTF-8 without control characters.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
}
