package sending

import "errors"

// CheckNextToken returns a *Failure if the token of the next page is the token of the page
// itself. Such a listing never ends. The pages read so far must not be taken for all of it.
func CheckNextToken(token, next string) error {
	if next == "" || next != token {
		return nil
	}
	return &Failure{Kind: Refused, Err: errors.New("the listing repeats its page token")}
}
