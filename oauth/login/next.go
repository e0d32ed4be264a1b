package login

import (
	"net/url"
	"path"
	"strings"
)

// maxNext is the maximum length of the parameter next, in bytes. The longest authorization
// request with its path fits.
const maxNext = 17 << 10

// localPath returns next if it is a path of this host, with or without a query, and ""
// otherwise. It is strict because browsers are lenient. They drop tabs and line breaks,
// read a backslash as a slash, and read two slashes as another host.
func localPath(next string) string {
	if len(next) > maxNext || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") {
		return ""
	}
	before, _, _ := strings.Cut(next, "?")
	if strings.ContainsFunc(next, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' }) || strings.Contains(before, "\\") {
		return ""
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !isPlain(u.Path) {
		return ""
	}
	return next
}

// isPlain reports whether a decoded path has no empty segments, no "." or ".." segments,
// and no characters that a browser or a second decoding would interpret.
func isPlain(decoded string) bool {
	return path.Clean(decoded) == decoded && !strings.ContainsAny(decoded, "\\%") &&
		!strings.ContainsFunc(decoded, func(c rune) bool { return c <= ' ' || c > '~' })
}

func signInAddress(next string) string {
	return withNext(SignInPath, next)
}

// pathOrSignIn returns next, or the path of the sign-in page if next is "". The sign-in
// page shows the account to a signed-in person.
func pathOrSignIn(next string) string {
	if next == "" {
		return SignInPath
	}
	return next
}
