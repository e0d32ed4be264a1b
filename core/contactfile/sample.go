package contactfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// sampleRows is the number of rows in a sample. sampleCell is the maximum length of its
	// cells in bytes.
	sampleRows = 3
	sampleCell = 200
	// maxSampleHeader is the maximum length of all headers in bytes.
	maxSampleHeader = 64 << 10
)

// Sample has the header and the first rows of a contact file, to decide what the columns
// set.
type Sample struct {
	Header    []string `json:"header"`
	Delimiter rune     `json:"delimiter"`
	// Rows are the cells of the first rows, shortened. A row has no more cells than Header.
	Rows [][]string `json:"rows"`
}

// ReadSample reads the start of a contact file and detects its delimiter. It fails if the
// file is not CSV in UTF-8, if its header is too long, or if it has no row.
func ReadSample(file io.Reader) (Sample, error) {
	r, err := openHeader(file, Config{})
	if err != nil {
		return Sample{}, err
	}
	if size := len(strings.Join(r.header, "")); size > maxSampleHeader {
		return Sample{}, fmt.Errorf("the header has %d bytes, more than %d: check that the first line names the columns", size, maxSampleHeader)
	}
	sample := Sample{Header: r.header, Delimiter: r.Delimiter()}
	r.columns = make([]column, len(r.header)) // every column is ignored
	for len(sample.Rows) < sampleRows {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Sample{}, err
		}
		sample.Rows = append(sample.Rows, shortenCells(row.Cells))
	}
	if len(sample.Rows) == 0 {
		return Sample{}, errors.New("the file has no rows below its header: add rows")
	}
	return sample, nil
}

// shortenCells returns the cells in valid UTF-8, each with at most sampleCell bytes.
func shortenCells(cells []string) []string {
	short := make([]string, len(cells))
	for i, cell := range cells {
		short[i] = strings.ToValidUTF8(cell[:min(len(cell), sampleCell)], "")
	}
	return short
}
