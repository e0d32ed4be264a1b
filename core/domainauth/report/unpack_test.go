package report_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

func gzipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content)
	_ = w.Close()
	return b.String()
}

func zipped(files ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, _ = w.Create("folder/")
	for i, content := range files {
		f, _ := w.Create(strings.Repeat("r", i+1) + ".xml")
		_, _ = io.WriteString(f, content)
	}
	_ = w.Close()
	return b.String()
}

func base64ed(content string) string { return base64.StdEncoding.EncodeToString([]byte(content)) }

// lines breaks a text into lines of 76 characters, as mail has them.
func lines(text string) string {
	return regexp.MustCompile(`.{1,76}`).ReplaceAllString(text, "$0\r\n ")
}

// unpack returns the number of messages of each document in a file.
func unpack(file string, l report.Limits) ([]uint64, error) {
	var all []uint64
	err := report.Unpack(strings.NewReader(file), l, func(d io.Reader) error {
		r, _, err := parse(d)
		if err == nil {
			all = append(all, r.Messages)
		}
		return err
	})
	return all, err
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	urlSafe := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(base64ed(gzipped(document)))
	for name, file := range map[string]string{
		"XML": document, "gzip": gzipped(document), "zip": zipped(document), "gzip twice": gzipped(gzipped(document)), "gzip in zip": zipped(gzipped(document)),
		"base64 of XML": base64ed(document), "base64 in lines": lines(base64ed(gzipped(document))), "base64 of zip": base64ed(zipped(document)),
		"base64 for URLs without padding": urlSafe, "gzip with a rest": gzipped(document) + "rest", "two parts of gzip": gzipped(document[:500]) + gzipped(document[500:]),
	} {
		if got, err := unpack(file, report.DefaultLimits); err != nil || !reflect.DeepEqual(got, []uint64{12}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := unpack(zipped(document, document, document), report.DefaultLimits); err != nil || len(got) != 3 {
		t.Errorf("three reports in a zip file: %v, %v", got, err)
	}
}

// TestUnpackKeepsWhatIsNotDamaged cuts compressed reports and changes their bytes.
func TestUnpackKeepsWhatIsNotDamaged(t *testing.T) {
	t.Parallel()
	records := distinct(2000, "<record><row><source_ip>2001:db8::%x</source_ip><count>3</count></row></record>")
	long := strings.Replace(document, "</feedback>", records+"</feedback>", 1)
	for name, file := range map[string]string{
		"half of gzip":      gzipped(long)[:len(gzipped(long))/2],
		"half of base64":    base64ed(gzipped(long))[:len(base64ed(gzipped(long)))/2],
		"gzip of half":      gzipped(long[:len(long)/2]),
		"gzip with a fault": gzipped(long)[:len(gzipped(long))-400] + strings.Repeat("\xff", 400),
	} {
		err := report.Unpack(strings.NewReader(file), report.DefaultLimits, func(d io.Reader) error {
			r, records, err := parse(d)
			if err != nil {
				return err
			}
			if len(records) < 100 || !strings.Contains(codes(r.Warnings), "truncated") {
				t.Errorf("%s: %d records, %+v", name, len(records), r.Warnings)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, file := range map[string]string{
		"gzip without content": gzipped(document)[:8], "zip without its directory": zipped(document)[:200], "nothing in gzip": gzipped(document)[:12],
	} {
		if got, err := unpack(file, report.DefaultLimits); !errors.Is(err, report.ErrCorrupt) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestBombs checks that small files with large content end at the limits.
func TestBombs(t *testing.T) {
	t.Parallel()
	limits := report.Limits{Bytes: 1 << 20, Packed: 1 << 20, Documents: 3}
	record := "<record><row><source_ip>192.0.2.9</source_ip><count>3</count></row></record>"
	many := strings.Replace(document, "</feedback>", strings.Repeat(record, 20_000)+"</feedback>", 1)
	half := strings.Replace(document, "</feedback>", "<!--"+strings.Repeat("-", 600_000)+"--></feedback>", 1)
	for name, file := range map[string]string{
		"records": many, "gzip": gzipped(many), "zip": zipped(many), "gzip of gzip": gzipped(gzipped(many)), "comment": gzipped(strings.Replace(many, "<record>", "<!--"+strings.Repeat(" ", 2<<20)+"--><record>", 1)),
		"documents that are together too large": zipped(half, half), "many documents": zipped(document, document, document, document),
		"large zip file": zipped(document) + strings.Repeat("\x00", 1<<20),
	} {
		if got, err := unpack(file, limits); !errors.Is(err, report.ErrTooLarge) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	// Layers have a bound of their own: what is below the last one is no report.
	nested := document
	for range 6 {
		nested = gzipped(nested)
	}
	if got, err := unpack(nested, limits); !errors.Is(err, report.ErrNotReport) {
		t.Errorf("six layers: %v, %v", got, err)
	}
}

// TestUnpackErrors checks that errors of the reader and of the caller are returned as they are.
func TestUnpackErrors(t *testing.T) {
	t.Parallel()
	errRead := errors.New("read")
	for name, begin := range map[string]string{"nothing": "", "gzip": gzipped(document)[:100], "zip": zipped(document)[:100], "base64": base64ed(document)[:100]} {
		err := report.Unpack(io.MultiReader(strings.NewReader(begin), failing{errRead}), report.DefaultLimits, func(d io.Reader) error {
			_, err := io.Copy(io.Discard, d)
			return err
		})
		if !errors.Is(err, errRead) || errors.Is(err, report.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	errEach := errors.New("each")
	if err := report.Unpack(strings.NewReader(zipped(document)), report.DefaultLimits, func(io.Reader) error { return errEach }); !errors.Is(err, errEach) {
		t.Error(err)
	}
}

// FuzzUnpack checks that any file ends, with few documents.
func FuzzUnpack(f *testing.F) {
	for _, file := range []string{document, gzipped(document), zipped(document, document), base64ed(gzipped(document)), gzipped(document)[:200]} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		limits, n := report.Limits{Bytes: 1 << 20, Packed: 1 << 20, Documents: 4}, 0
		_ = report.Unpack(bytes.NewReader(file), limits, func(d io.Reader) error {
			n++
			_, _, err := parse(d)
			return err
		})
		if n > limits.Documents {
			t.Errorf("%d documents", n)
		}
	})
}

// TestInterruptedFilesAreNotDamaged cuts the connection over which a file is read. Storage reports
// that as io.ErrUnexpectedEOF, like decoders a file that is too short; only the latter is damaged.
func TestInterruptedFilesAreNotDamaged(t *testing.T) {
	t.Parallel()
	errCut := fmt.Errorf("the connection was closed: %w", io.ErrUnexpectedEOF)
	large := strings.Replace(document, "</feedback>", strings.Repeat("<!-- "+base64ed(document)+" -->", 2000)+"</feedback>", 1)
	for name, file := range map[string]string{"gzip": gzipped(large), "zip": zipped(large), "base64": base64ed(gzipped(large)), "XML": large, "gzip of base64": gzipped(base64ed(large))} {
		for _, at := range []int{1, 5, len(file) / 2, len(file) * 9 / 10} {
			cut := io.MultiReader(strings.NewReader(file[:at]), iotest.ErrReader(errCut))
			var documents []error
			err := report.Unpack(cut, report.DefaultLimits, func(d io.Reader) error {
				_, _, err := parse(d)
				documents = append(documents, err)
				return err
			})
			if !errors.Is(err, errCut) || errors.Is(err, report.ErrCorrupt) {
				t.Errorf("%s cut at %d of %d: %v; documents: %v", name, at, len(file), err, documents)
			}
		}
	}
}
