package receiving

import (
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// Problems of deliveries beside those of package standardhooks.
const (
	contentGone standardhooks.Problem = "content_gone"
	storeFailed standardhooks.Problem = "store_failed"
)

// problemWords says what happened in an attempt without a response.
var problemWords = map[standardhooks.Problem]string{
	standardhooks.TimedOut:       "The endpoint did not answer within 10 seconds.",
	standardhooks.RefusedAddress: "The host has an address that is not on the public Internet, or the port is not 443.",
	standardhooks.BadCertificate: "The certificate of the endpoint is not valid.",
	standardhooks.UnknownHost:    "The DNS does not know the host.",
	standardhooks.NotConnected:   "No connection to the endpoint could be opened, or it broke.",
	standardhooks.NotSent:        "The request could not be made.",
	contentGone:                  "The content of the message is deleted.",
	storeFailed:                  "The storage of the message did not answer, so there are no links to its parts.",
}

// resultOf returns the result of an attempt that began at start and was answered at now.
func resultOf(e Endpoint, item Item, a standardhooks.Answer, start, now time.Time) Result {
	failed := !a.Delivered() && a.Problem != contentGone && a.Problem != storeFailed
	r := Result{
		Target: e.Target, Item: item, Failed: failed, Slow: failed || now.Sub(start) >= slowFrom,
		State: State{State: DeliveryFailed, OccurredAt: now, Detail: detailOf(a)},
	}
	if a.Status != 0 {
		r.State.HTTPStatus = &a.Status
	}
	wait, again := standardhooks.RetryAfter(item.Tries + 1)
	switch {
	case a.Delivered():
		r.State.State = Delivered
	case again && a.Problem != contentGone:
		due := now.Add(wait)
		r.State.State, r.DueAt = Retrying, &due
	}
	return r
}

// detailOf describes an answer.
func detailOf(a standardhooks.Answer) string {
	if a.Status == 0 {
		return problemWords[a.Problem]
	}
	if a.Text == "" {
		return fmt.Sprintf("The endpoint answered %d.", a.Status)
	}
	return fmt.Sprintf("The endpoint answered %d: %s", a.Status, a.Text)
}
