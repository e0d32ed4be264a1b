package demomail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime"
	"net/mail"
	"strings"
	"time"

	"github.com/emersion/go-msgauth/dkim"
)

// letter is an invented message.
type letter struct {
	from    mail.Address
	to      string // local part; "" for the address of the inbox
	subject string
	text    string
	html    string
	// logo adds an image that the HTML shows as cid:logo.
	logo bool
	file *attachment
	// forged leaves out the signature.
	forged bool
	// language is the value of Content-Language, "" for none.
	language string
}

type attachment struct {
	name, contentType string
	content           []byte
}

// dateFormat is the format of the header field Date (RFC 5322 section 3.3).
const dateFormat = time.RFC1123Z

// compose returns the message as it is sent: with CRLF, and signed unless it is forged.
func (n *Names) compose(l letter, to string, at time.Time) ([]byte, error) {
	var m bytes.Buffer
	header := [][2]string{
		{"From", l.from.String()},
		{"To", "<" + to + ">"},
		{"Subject", mime.QEncoding.Encode("utf-8", l.subject)},
		{"Date", at.Format(dateFormat)},
		{"Message-ID", fmt.Sprintf("<%d.%s>", at.UnixNano(), l.from.Address)},
		{"MIME-Version", "1.0"},
	}
	if l.language != "" {
		header = append(header, [2]string{"Content-Language", l.language})
	}
	for _, field := range header {
		fmt.Fprintf(&m, "%s: %s\r\n", field[0], field[1])
	}
	m.WriteString(l.body())
	if l.forged {
		return m.Bytes(), nil
	}
	var signed bytes.Buffer
	err := dkim.Sign(&signed, &m, &dkim.SignOptions{
		Domain: domainOf(l.from.Address), Selector: selector, Signer: n.key,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	})
	return signed.Bytes(), err
}

// domainOf returns the domain of an address.
func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// body returns the content of the letter with its own header fields: text and HTML as
// alternatives, with the image beside the HTML and the attachment last.
func (l letter) body() string {
	content := encoded("text/plain; charset=utf-8", "", []byte(l.text))
	if l.html != "" {
		html := encoded("text/html; charset=utf-8", "", []byte(l.html))
		if l.logo {
			html = several("related", html, encoded("image/png", "Content-ID: <logo>\r\nContent-Disposition: inline; filename=logo.png\r\n", logo()))
		}
		content = several("alternative", content, html)
	}
	if l.file != nil {
		content = several("mixed", content, encoded(l.file.contentType, fmt.Sprintf("Content-Disposition: attachment; filename=%q\r\n", l.file.name), l.file.content))
	}
	return content
}

// several returns parts as one multipart entity. Entities of different kinds have different
// boundaries, because they contain each other.
func several(kind string, parts ...string) string {
	boundary := "=_demo_" + kind
	var b strings.Builder
	fmt.Fprintf(&b, "Content-Type: multipart/%s; boundary=%q\r\n\r\n", kind, boundary)
	for _, part := range parts {
		fmt.Fprintf(&b, "--%s\r\n%s", boundary, part)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.String()
}

// lineLength is the length of a line of base64 (RFC 2045 section 6.8).
const lineLength = 76

// encoded returns an entity in base64 with further header fields.
func encoded(contentType, fields string, content []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Transfer-Encoding: base64\r\n%s\r\n", contentType, fields)
	text := base64.StdEncoding.EncodeToString(content)
	for len(text) > 0 {
		n := min(lineLength, len(text))
		b.WriteString(text[:n] + "\r\n")
		text = text[n:]
	}
	return b.String()
}

// logo returns an image: a light ring on a dark ground.
func logo() []byte {
	const size, outer, inner = 96, 40 * 40, 26 * 26
	picture := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.RGBA{R: 0x1b, G: 0x26, B: 0x22, A: 0xff}, color.RGBA{R: 0xe8, G: 0xb0, B: 0x4b, A: 0xff}})
	for y := range size {
		for x := range size {
			if d := (x-size/2)*(x-size/2) + (y-size/2)*(y-size/2); d < outer && d > inner {
				picture.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, picture) // a buffer takes everything
	return b.Bytes()
}

// pdf returns a document of one page with lines of ASCII text without parentheses.
func pdf(lines ...string) []byte {
	var page strings.Builder
	page.WriteString("BT /F1 14 Tf 72 770 Td 20 TL\n")
	for _, line := range lines {
		fmt.Fprintf(&page, "(%s) Tj T*\n", line)
	}
	page.WriteString("ET\n")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", page.Len(), page.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table, len(objects)+1, start)
	return b.Bytes()
}
