package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutString returns the beginning of s, at most n bytes, without half a character.
func cutString(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// oneLine returns s as valid UTF-8 of at most n bytes, in which each control character is a
// space.
func oneLine(s string, n int) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if !plain {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return cutString(s, n)
}

// isInvisible reports whether a character changes how the text around it is displayed without
// being visible: control characters, marks and overrides of direction, characters of no
// width, tags, and line separators.
func isInvisible(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r == 0x061C, r == 0x00AD, r == 0xFEFF, r >= 0xE0000 && r <= 0xE007F, r >= 0xFFF9 && r <= 0xFFFB:
		return true
	}
	return false
}

// visible returns s as valid UTF-8 of at most n bytes without invisible characters, and with
// single spaces.
func visible(s string, n int) string {
	var b strings.Builder
	space := false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case isInvisible(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if b.Len() > n {
			break
		}
	}
	return strings.TrimRight(cutString(b.String(), n), " ")
}

// reservedInFilename has the characters that a file system or a shell of Windows reserves.
const reservedInFilename = `<>:"|?*`

// cleanFilename returns the last element of a sender's file name in a form that is safe on
// every file system, or "" if nothing is left.
func cleanFilename(name string) string {
	name = visible(name, maxParamBytes)
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(reservedInFilename, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ". "), ". ")
	if len(name) > maxFilenameBytes {
		ext := extension(name)
		name = strings.TrimRight(cutString(name, maxFilenameBytes-len(ext)), ". ") + ext
	}
	if isDevice(name) {
		name = "_" + name
	}
	return name
}

// extension returns the extension of a file name with its dot, or "" if it has none of at
// most 16 bytes.
func extension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || len(name)-i > 16 {
		return ""
	}
	return name[i:]
}

// isDevice reports whether Windows would open a device instead of a file of that name.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch base = strings.TrimRight(base, " "); {
	case base == "CON", base == "PRN", base == "AUX", base == "NUL":
		return true
	case len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")):
		return base[3] >= '0' && base[3] <= '9'
	}
	return false
}
