package report_test

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/reporttest"
)

// benchRecords is the number of records of a report in the benchmarks.
const benchRecords = 100_000

// BenchmarkParse reads a report of 100,000 records and 60 MB from gzip, by Parse, by encoding/xml,
// and by parsedmarc if MAILHELM_PARSEDMARC names a folder with its source.
func BenchmarkParse(b *testing.B) {
	var xmlText, packed bytes.Buffer
	reporttest.Large(&xmlText, benchRecords)
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(xmlText.Bytes())
	_ = w.Close()
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(xmlText.Len()))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			err := report.Unpack(bytes.NewReader(packed.Bytes()), report.DefaultLimits, func(document io.Reader) error {
				_, err := report.Parse(document, func(*report.Record) error { n++; return nil })
				return err
			})
			if err != nil || n != benchRecords {
				b.Fatalf("%d records, %v", n, err)
			}
		}
		b.ReportMetric(float64(benchRecords)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
	if folder := os.Getenv("MAILHELM_PARSEDMARC"); folder != "" {
		b.Run("parsedmarc", func(b *testing.B) { benchParsedmarc(b, folder, packed.Bytes()) })
	}
	b.Run("encoding-xml", func(b *testing.B) {
		b.SetBytes(int64(xmlText.Len()))
		b.ReportAllocs()
		for b.Loop() {
			r, err := gzip.NewReader(bytes.NewReader(packed.Bytes()))
			if err != nil {
				b.Fatal(err)
			}
			if n := decodeRecords(b, r); n != benchRecords {
				b.Fatalf("%d records", n)
			}
		}
		b.ReportMetric(float64(benchRecords)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}

// hugeRecords is the number of records of a report of 2 GB.
const hugeRecords = 3_000_000

// BenchmarkParseHuge reads a report of 2 GB that is written at the same time, and reports the largest
// heap.
func BenchmarkParseHuge(b *testing.B) {
	for b.Loop() {
		from, to := io.Pipe()
		written := &counting{w: to}
		go func() {
			reporttest.Large(written, hugeRecords)
			_ = to.Close()
		}()
		n, most := 0, uint64(0)
		_, err := report.Parse(from, func(*report.Record) error {
			if n++; n%100_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			return nil
		})
		if err != nil || n != hugeRecords {
			b.Fatalf("%d records, %v", n, err)
		}
		b.ReportMetric(float64(most)/(1<<20), "MB-heap")
		b.ReportMetric(float64(written.n)/(1<<30), "GB-read")
	}
}

type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// decodedRecord is a record for encoding/xml.
type decodedRecord struct {
	IP     string `xml:"row>source_ip"`
	Count  int    `xml:"row>count"`
	Policy struct {
		Disposition string `xml:"disposition"`
		DKIM        string `xml:"dkim"`
		SPF         string `xml:"spf"`
		Reasons     []struct {
			Type    string `xml:"type"`
			Comment string `xml:"comment"`
		} `xml:"reason"`
	} `xml:"row>policy_evaluated"`
	HeaderFrom   string `xml:"identifiers>header_from"`
	EnvelopeFrom string `xml:"identifiers>envelope_from"`
	DKIM         []struct {
		Domain   string `xml:"domain"`
		Selector string `xml:"selector"`
		Result   string `xml:"result"`
	} `xml:"auth_results>dkim"`
	SPF []struct {
		Domain string `xml:"domain"`
		Scope  string `xml:"scope"`
		Result string `xml:"result"`
	} `xml:"auth_results>spf"`
}

// decodeRecords reads the records as a stream, one at a time.
func decodeRecords(b *testing.B, r io.Reader) (n int) {
	b.Helper()
	d := xml.NewDecoder(r)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			b.Fatal(err)
		}
		if start, ok := t.(xml.StartElement); ok && start.Name.Local == "record" {
			var record decodedRecord
			if err := d.DecodeElement(&record, &start); err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
}
