package frame

import (
	"net/url"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
)

// PageSize is the number of rows on one page of a list.
const PageSize = 50

// The query parameters of a page of a list: the cursor from the page before, and the number
// of the first row, counted from 1.
const (
	ParamCursor = "cursor"
	ParamFrom   = "from"
)

// Pager is the data of the template "pager" below a list.
type Pager struct {
	// Range says which rows the page has, such as "51 to 100 of 12,431".
	Range string
	// First is the address of the first page, "" on the first page. Next is the address of
	// the next page, "" on the last page.
	First, Next string
}

// PagerOf returns the pager of a page with a number of rows. path and query are the page's
// address. next is the cursor of the next page, "" on the last page. total is the number of
// rows on all pages, negative if it is unknown.
func PagerOf(path string, query url.Values, rows int, next string, total int64) Pager {
	if rows == 0 && query.Get(ParamCursor) == "" {
		return Pager{}
	}
	from := max(1, number(query.Get(ParamFrom)))
	p := Pager{Range: core.WithCommas(from) + " to " + core.WithCommas(from+rows-1)}
	if rows == 0 {
		p.Range = "No more rows"
	} else if total >= 0 {
		p.Range += " of " + core.WithCommas(total)
	}
	asked := url.Values{}
	for name, values := range query {
		if name != ParamCursor && name != ParamFrom && values[0] != "" {
			asked[name] = values
		}
	}
	if query.Get(ParamCursor) != "" {
		p.First = addressOf(path, asked)
	}
	if next != "" {
		asked.Set(ParamCursor, next)
		asked.Set(ParamFrom, strconv.Itoa(from+rows))
		p.Next = addressOf(path, asked)
	}
	return p
}

// number returns the number that a text states, or 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1e9 {
		return 0
	}
	return n
}
