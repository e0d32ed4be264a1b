package settings

import (
	"net/url"

	"github.com/alecthomas/kong"
)

// Value is one resulting setting.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source is "flag --x", "environment MAILHELM_X", "file path", "default", "derived" or
	// "derived from x".
	Source string `json:"source"`
}

// hidden replaces a secret, or a URL that may contain one, in a report.
const hidden = "(hidden)"

// Report lists the settings of the selected command in the order of its help, with
// secrets hidden. derived holds, by flag, the values of empty settings.
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

// concealSecrets returns the value as text, with its secrets hidden. The tag "secret"
// of a flag selects how: "whole" hides all of the value, "url" only passwords in it. An
// empty value stays empty.
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

// ConcealURL hides the passwords in a database URL: before the host and among the
// parameters. It hides a text that is not a URL completely.
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
