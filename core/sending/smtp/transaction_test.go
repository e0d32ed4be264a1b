package smtp

import (
	"bufio"
	"bytes"
	"net/textproto"
	"testing"
)

// FuzzAppendStuffed compares the lines of a message with those of the standard library. It leaves
// out two returns in a row, which a composed message does not have and after which the
// standard library adds a third.
func FuzzAppendStuffed(f *testing.F) {
	for _, seed := range []string{"a", ".", ".\r\n", "..\n.\r\n", "a\rb\r\n.c\n\n", "\r\n.\r\nQUIT", "a\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || bytes.Contains(data, []byte("\r\r")) {
			return
		}
		var want bytes.Buffer
		w := textproto.NewWriter(bufio.NewWriter(&want)).DotWriter()
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := appendStuffed(nil, data); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("the lines of %q are %q, want %q", data, got, want.Bytes())
		}
	})
}

func BenchmarkAppendStuffed(b *testing.B) {
	data := bytes.Repeat([]byte("a line of a message with some words that fill it up to its end, as lines are=\r\n"), 200)
	b.Run("ours", func(b *testing.B) {
		var out []byte
		for b.Loop() {
			out = appendStuffed(out[:0], data)
		}
	})
	b.Run("textproto", func(b *testing.B) {
		out := bufio.NewWriter(discard{})
		for b.Loop() {
			w := textproto.NewWriter(out).DotWriter()
			_, _ = w.Write(data)
			_ = w.Close()
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
