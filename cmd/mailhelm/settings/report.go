package settings

import (
	"net/url"

	"github.com/alecthomas/kong"
)

// Value is one resulting setting.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source is where the value came from: "flag --x", "environment MAILHELM_X", "file
	// path", "default", "derived" or "derived from x".
	Source string `json:"source"`
}

// hidden is printed in place of a secret, or of a text that may contain one.
const hidden = "(hidden)"

// Report returns the settings of the selected command in the order of its help, with
// secrets hidden. derived maps flags to the values that are derived if the flags are empty.
func (s *Sources) Report(ctx *kong.Context, derived map[string]string) []Value {
	var values []Value
	for _, flag := range ctx.Selected().Flags {
		if !Configurable(flag) {
			continue
		}
		v := Value{Name: flag.Name, Source: s.Of(ctx, flag.Name)}
		v.Value = concealSecrets(flag, flag.Target.Interface())
		if follows, ok := derived[flag.Name]; ok && v.Value == "" {
			v.Value, v.Source = follows, "derived"
		}
		values = append(values, v)
	}
	return values
}

// concealSecrets returns the value of a flag as text, with secrets hidden. The flag's tag
// "secret" selects how: "whole" hides the whole value, "url" hides the passwords in a URL.
// An empty value stays empty.
func concealSecrets(flag *kong.Flag, value any) string {
	text := stringOf(value)
	switch flag.Tag.Get("secret") {
	case "whole":
		if text != "" {
			return hidden
		}
	case "url":
		return ConcealURL(text)
	}
	return text
}

// ConcealURL hides the passwords in a URL, such as a database URL: before the host and in
// the query parameters. It hides the whole text if it is not a URL. It returns "" for "".
func ConcealURL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Host == "" && u.RawQuery == "" {
		return hidden
	}
	if _, set := u.User.Password(); set {
		u.User = url.UserPassword(u.User.Username(), "hidden")
	}
	q := u.Query()
	for _, name := range []string{"password", "sslpassword", "passfile"} {
		if q.Has(name) {
			q.Set(name, "hidden")
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
