package parse_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"

	"github.com/emersion/go-message"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
)

// elevenKB returns a message of about 11 KB with 20 header fields, text, HTML and an image.
func elevenKB() []byte {
	var b bytes.Buffer
	for i := range 5 {
		fmt.Fprintf(&b, "Received: from relay%d.example.org (relay%d.example.org [192.0.2.%d])\r\n\tby mx.example.net with ESMTPS id 4f%d2a;\r\n\tTue, 6 Oct 2026 10:00:00 +0200\r\n", i, i, i, i)
	}
	for i := range 6 {
		fmt.Fprintf(&b, "X-Header-%d: some value with a moderate length, number %d\r\n", i, i)
	}
	b.WriteString("From: =?utf-8?q?J=C3=BCrgen_Example?= <juergen@example.org>\r\nTo: \"Doe, Jane\" <jane@example.net>, bob@example.net\r\n" +
		"Subject: =?utf-8?b?" + base64.StdEncoding.EncodeToString([]byte("Ihre Bestätigung für heute")) + "?=\r\n" +
		"Date: Tue, 6 Oct 2026 10:00:00 +0200\r\nMessage-ID: <abc.123@example.org>\r\nReferences: <a@example.org> <b@example.org>\r\n" +
		"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"mixed-1\"\r\n\r\n" +
		"--mixed-1\r\nContent-Type: multipart/alternative; boundary=\"alt-1\"\r\n\r\n")
	for _, kind := range []string{"plain", "html"} {
		b.WriteString("--alt-1\r\nContent-Type: text/" + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
		w := quotedprintable.NewWriter(&b)
		_, _ = io.WriteString(w, strings.Repeat("<p>Grüße aus München, dies ist eine Zeile Text.</p>\r\n", 35))
		_ = w.Close()
	}
	b.WriteString("\r\n--alt-1--\r\n--mixed-1\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.png\r\n\r\n")
	line := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x89}, 57)) + "\r\n"
	b.WriteString(strings.Repeat(line, 60) + "--mixed-1--\r\n")
	return b.Bytes()
}

// BenchmarkParse reads a message of 11 KB.
func BenchmarkParse(b *testing.B) {
	raw := elevenKB()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if c := parse.Bytes(raw, parse.Limits{}); len(c.Attachments) != 1 || len(c.Warnings) > 0 {
			b.Fatalf("%+v", c)
		}
	}
}

// BenchmarkGoMessage reads the same message with go-message: it decodes every part, but
// reads no addresses.
func BenchmarkGoMessage(b *testing.B) {
	raw := elevenKB()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		e, err := message.Read(bytes.NewReader(raw))
		if err != nil {
			b.Fatal(err)
		}
		err = e.Walk(func(_ []int, e *message.Entity, err error) error {
			if err != nil || e.MultipartReader() != nil {
				return err
			}
			_, err = io.ReadAll(e.Body)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
