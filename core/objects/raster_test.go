package objects_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/objects"
)

func TestRasterType(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00":          "image/png",
		"\xff\xd8\xff\xe0":                   "image/jpeg",
		"GIF87a":                             "image/gif",
		"GIF89a\x01":                         "image/gif",
		"RIFF\x00\x00\x00\x00WEBPVP8 ":       "image/webp",
		"RIFF\x00\x00\x00\x00WEBPX":          "",
		"RIFF\x00\x00\x00\x00WAVEfm":         "",
		"":                                   "",
		"GIF":                                "",
		" GIF89a":                            "",
		"BM\x00\x00\x00\x00":                 "",
		"<svg xmlns='http://www.w3.org/...'": "",
		"\x00\x00\x01\x00":                   "",
	} {
		if got := objects.RasterType([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

// FuzzRasterType compares the result with the rules of browsers (MIME Sniffing Standard), as
// package net/http has them.
func FuzzRasterType(f *testing.F) {
	for _, head := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF89a", "RIFF0000WEBPVP", "<svg", "BM"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		want := http.DetectContentType(head)
		if !strings.Contains("image/png image/jpeg image/gif image/webp", want) {
			want = ""
		}
		if got := objects.RasterType(head); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
		if len(head) > objects.RasterHead && objects.RasterType(head[:objects.RasterHead]) != want {
			t.Errorf("%q: another type by its first %d bytes", head, objects.RasterHead)
		}
	})
}
