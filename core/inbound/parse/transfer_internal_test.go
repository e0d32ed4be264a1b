package parse

import (
	"bytes"
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestQuotedPrintable checks that what the standard library encodes is decoded to the same
// bytes, and that the result does not depend on how the content is read.
func TestQuotedPrintable(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`([a-zé= \t]{0,120}\r\n| {0,900}|=20| {1,5}=\r\n|=\r\n)*`)
	rapid.Check(t, func(t *rapid.T) {
		content := text.Draw(t, "content")
		var b bytes.Buffer
		w := quotedprintable.NewWriter(&b)
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		decoder := decodeTransfer("quoted-printable", &b)
		decoded, err := io.ReadAll(decoder)
		if err != nil || decoder.damaged() || string(decoded) != content {
			t.Fatalf("%q, %v, want %q", decoded, err, content)
		}
		// The content itself, read as quoted-printable, at once and byte by byte.
		whole, err := io.ReadAll(decodeTransfer("quoted-printable", strings.NewReader(content)))
		if err != nil {
			t.Fatal(err)
		}
		single, err := io.ReadAll(iotest.OneByteReader(decodeTransfer("quoted-printable", iotest.OneByteReader(strings.NewReader(content)))))
		if err != nil || !bytes.Equal(whole, single) {
			t.Fatalf("%q byte by byte, %q at once, %v", single, whole, err)
		}
	})
}

func TestDamagedTransfer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		encoding, in, want string
		damaged            bool
	}{
		{"quoted-printable", "a  \r\nb\t\nc =\r\nd=20\r\ne  ", "a\r\nb\nc d \r\ne", false},
		{"quoted-printable", "=c3=A9=", "é", false},
		{"quoted-printable", "a= \t\r\nb", "ab", false},
		{"quoted-printable", "=G0=", "=G0", true},
		{"base64", "aGVs bG8\r\n=", "hello", false},
		{"base64", "a", "", true},
		{"base64", "aGVsbG8=aGk=", "hellohi", false},
		{"", "a=20", "a=20", false},
	} {
		d := decodeTransfer(tc.encoding, strings.NewReader(tc.in))
		if got, err := io.ReadAll(d); err != nil || string(got) != tc.want || d.damaged() != tc.damaged {
			t.Errorf("%s %q is %q, damaged %t, %v; want %q", tc.encoding, tc.in, got, d.damaged(), err, tc.want)
		}
	}
}

// TestStorageFails checks that an error of the storage is not taken for the end of the
// message.
func TestStorageFails(t *testing.T) {
	t.Parallel()
	raw := []byte("Content-Type: text/plain\r\n\r\n" + strings.Repeat("words\r\n", 20_000))
	for _, after := range []int64{0, 10, 100_000} {
		if c, err := Parse(failing{bytes.NewReader(raw), after}, int64(len(raw)), Limits{}); err == nil {
			t.Errorf("no error although reading fails after %d bytes: %d bytes of text", after, len(c.TextBody))
		}
	}
	if _, err := Parse(bytes.NewReader(raw), int64(len(raw))+1, Limits{}); err == nil {
		t.Error("no error although the message is shorter than stated")
	}
}

// failing is a message whose reading fails from an offset.
type failing struct {
	io.ReaderAt
	from int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, io.ErrClosedPipe
	}
	return f.ReaderAt.ReadAt(p, off)
}
