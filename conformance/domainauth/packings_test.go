package domainauth

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"regexp"

	"golang.org/x/text/encoding/unicode"
)

// attachment is a name as attachments have it. In gzip and zip it is part of the file.
const attachment = "receiver.example!example.com!1795737600!1795823999.xml"

// packings are the ways in which receivers send a document.
var packings = map[string]func(document []byte) []byte{
	"plain": func(document []byte) []byte { return document },
	"gzip":  func(document []byte) []byte { return gzipped(document, "") },
	// Gateways send the name too.
	"gzip with a name": func(document []byte) []byte { return gzipped(document, attachment) },
	// A line end follows, which belongs to the mail.
	"gzip and a line end": func(document []byte) []byte { return append(gzipped(document, attachment), "\r\n"...) },
	"zip":                 zipped,
	"zip and a line end":  func(document []byte) []byte { return append(zipped(document), "\r\n"...) },
	// The attachment was saved as it was in the mail.
	"base64 of gzip": func(document []byte) []byte {
		return regexp.MustCompile(`.{1,76}`).ReplaceAll([]byte(base64.StdEncoding.EncodeToString(gzipped(document, ""))), []byte("$0\r\n"))
	},
	"half of gzip": halfOfGzip,
	"gzip of UTF-16": func(document []byte) []byte {
		wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(document)
		if err != nil {
			panic(err) // the document is UTF-8
		}
		return gzipped(wide, "")
	},
}

func gzipped(document []byte, name string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name = name
	_, _ = w.Write(document)
	_ = w.Close()
	return b.Bytes()
}

// halfOfGzip returns gzip that ends after the document, without the end of the stream.
func halfOfGzip(document []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(document)
	_ = w.Flush()
	return b.Bytes()
}

func zipped(document []byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(attachment)
	if err != nil {
		panic(err) // it writes to memory
	}
	_, _ = f.Write(document)
	_ = w.Close()
	return b.Bytes()
}
