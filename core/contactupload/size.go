package contactupload

import "strconv"

// SizeWords returns a number of bytes in words, such as "100 MB". It uses the largest unit
// that needs no fraction.
func SizeWords(bytes int) string {
	switch {
	case bytes != 0 && bytes%(1<<20) == 0:
		return strconv.Itoa(bytes>>20) + " MB"
	case bytes != 0 && bytes%(1<<10) == 0:
		return strconv.Itoa(bytes>>10) + " KB"
	}
	return strconv.Itoa(bytes) + " bytes"
}
