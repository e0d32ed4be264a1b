package sending

import (
	"errors"
	"iter"
)

// Pages reads a listing of an [Account] page by page. It calls read with the token of each
// page, "" for the first, until there is no next page. If a call fails, or the listing
// repeats a token, the last iteration has the error and an empty page.
func Pages[T any](read func(token string) (page []T, next string, err error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for token := ""; ; {
			page, next, err := read(token)
			if err == nil {
				err = CheckNextToken(token, next)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || next == "" {
				return
			}
			token = next
		}
	}
}

// CheckNextToken returns a *Failure if the token of the next page is the token of the page
// itself. Such a listing never ends, and its pages may lack entries, so the caller must not
// treat the pages read so far as the whole listing.
func CheckNextToken(token, next string) error {
	if next == "" || next != token {
		return nil
	}
	return &Failure{Kind: Refused, Err: errors.New("the listing repeats its page token")}
}
