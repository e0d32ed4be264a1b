package wire

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// suppressedObject returns the JSON of a suppressed address.
func suppressedObject(s sending.Suppressed) object {
	return object{
		"EmailAddress": s.Email, "Reason": strings.ToUpper(string(s.Reason)), "LastUpdateTime": seconds(s.At),
	}
}

// getSuppressedDestination serves GetSuppressedDestination. It fails with NotFoundException
// if the address is not suppressed.
func (w *wire) getSuppressedDestination(r *http.Request) (any, error) {
	one, err := w.account.FindSuppressed(r.Context(), w.org, r.PathValue("email"))
	if err != nil {
		return nil, err
	}
	return object{"SuppressedDestination": suppressedObject(one)}, nil
}

// deleteSuppressedDestination serves DeleteSuppressedDestination. It fails with
// NotFoundException if the address is not suppressed.
func (w *wire) deleteSuppressedDestination(r *http.Request) (any, error) {
	email := r.PathValue("email")
	if _, err := w.account.FindSuppressed(r.Context(), w.org, email); err != nil {
		return nil, err
	}
	return object{}, w.account.EraseAddress(r.Context(), w.org, email)
}

// listSuppressedDestinations serves ListSuppressedDestinations. It filters by reason after
// reading a page. So a page may have few entries although another page follows; callers
// must use NextToken.
func (w *wire) listSuppressedDestinations(r *http.Request) (any, error) {
	l, err := readListing(r)
	if err != nil {
		return nil, err
	}
	since, err := queryTime(r, "StartDate")
	if err != nil {
		return nil, err
	}
	until, err := queryTime(r, "EndDate")
	if err != nil {
		return nil, err
	}
	page, next, err := w.account.WithPageSize(l.PageSize).SuppressedPage(r.Context(), w.org, since, until, l.NextToken)
	reasons := r.URL.Query()["Reason"]
	found := []object{}
	for _, s := range page {
		if len(reasons) == 0 || slices.Contains(reasons, strings.ToUpper(string(s.Reason))) {
			found = append(found, suppressedObject(s))
		}
	}
	return withNext(object{"SuppressedDestinationSummaries": found}, next), err
}

// queryTime parses a time in the query of a request, in the format of RFC 3339. It returns
// the zero time if the query does not have it, and fails with BadRequestException for
// another format.
func queryTime(r *http.Request, name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, badRequest(name + " is no time.")
	}
	return at, nil
}
