package contactupload_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/contactupload"
)

func TestSizeWords(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]string{
		0: "0 bytes", 1000: "1000 bytes", 1 << 10: "1 KB", 1536 << 10: "1536 KB", 2 << 20: "2 MB", 2<<20 + 1: "2097153 bytes",
	} {
		if got := contactupload.SizeWords(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
