package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

const (
	bulkPath = "/v1/contacts/bulk"
	// bulkWait is the time after which a test gives up waiting for a bulk write of 5,000
	// rows.
	bulkWait = 2 * time.Minute
)

// bulkState has the members of a bulk write's progress that the tests read.
type bulkState struct {
	JobID       string     `json:"job_id"`
	Status      string     `json:"status"`
	Total       int        `json:"total"`
	Processed   int        `json:"processed"`
	Succeeded   int        `json:"succeeded"`
	Failed      int        `json:"failed"`
	CompletedAt *time.Time `json:"completed_at"`
	Results     []bulkItem `json:"results"`
	NextCursor  *string    `json:"next_cursor"`
}

type bulkItem struct {
	Index     int    `json:"index"`
	Status    string `json:"status"`
	ContactID string `json:"contact_id"`
	Email     string `json:"email"`
	External  string `json:"external_id"`
	Reason    string `json:"reason"`
	Errors    []struct{ Field, Reason string }
}

// bulkOf returns the body of a bulk write that creates n contacts. Their addresses and
// external ids begin with prefix, so that they are unique.
func bulkOf(prefix string, n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"email":"%s%d@example.com","external_id":"%s-%d","attributes":{"city":"Graz"},"lists":["newsletter"]}`, prefix, i, prefix, i)
	}
	return `{"contacts":[` + strings.Join(rows, ",") + `]}`
}

// postBulk starts a bulk write and returns the path under which its progress is read.
func (a *api) postBulk(t *testing.T, body string, headers ...string) string {
	t.Helper()
	var taken bulkState
	a.do(t, "POST", bulkPath, body, headers...).want(202).decode(&taken)
	if taken.Status != "queued" || taken.JobID == "" {
		t.Fatalf("%+v", taken)
	}
	return bulkPath + "/" + taken.JobID
}

// bulk reads a page of a bulk write's results and checks that the members of the response
// are consistent. from is the index of the page's first row.
func (a *api) bulk(t *testing.T, job string, from, limit int, cursor string) bulkState {
	t.Helper()
	var s bulkState
	a.do(t, "GET", fmt.Sprintf("%s?limit=%d&cursor=%s", job, limit, url.QueryEscape(cursor)), "").want(200).decode(&s)
	ended := s.Status == "completed"
	switch {
	case s.Processed != s.Succeeded+s.Failed, ended != (s.CompletedAt != nil), ended != (s.Processed == s.Total),
		!slices.Contains([]string{"queued", "processing", "completed"}, s.Status), (s.Status == "queued") != (s.Processed == 0):
		t.Fatalf("the job contradicts itself: %+v", s)
	case len(s.Results) != max(0, min(limit, s.Processed-from)):
		t.Fatalf("%d results from %d on, of %d that are done", len(s.Results), from, s.Processed)
	case (s.NextCursor == nil) != (from+len(s.Results) == s.Total):
		t.Fatalf("next_cursor %v behind %d of %d", s.NextCursor, from+len(s.Results), s.Total)
	}
	return s
}

// follow reads the results of a running bulk write by its cursors until the last row. It
// returns the outcomes of all rows, and the progress after each read.
func (a *api) follow(t *testing.T, job string, limit int) ([]bulkItem, []bulkState) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	var items []bulkItem
	var seen []bulkState
	for cursor, began := "", time.Now(); ; {
		s := a.bulk(t, job, len(items), limit, cursor)
		items, seen = append(items, s.Results...), append(seen, s)
		if s.NextCursor == nil {
			return items, seen
		}
		cursor = *s.NextCursor
		if time.Since(began) > bulkWait {
			t.Fatalf("not done in %v: %+v", bulkWait, s)
		}
		if len(s.Results) == 0 {
			<-again.C
		}
	}
}

// TestBulkIsFollowedWhileItRuns checks that a caller that follows next_cursor while a bulk
// write runs sees its progress, and each row once in order.
func TestBulkIsFollowedWhileItRuns(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const jobs, rows = 5, 5000
		inTheMiddle := false
		for try := 0; try < jobs && !inTheMiddle; try++ {
			items, seen := a.follow(t, a.postBulk(t, bulkOf(fmt.Sprintf("try%d-", try), rows)), 200)
			contacts := map[string]bool{}
			for i, item := range items {
				if item.Index != i || item.Status != "created" || item.Email != fmt.Sprintf("try%d-%d@example.com", try, i) || item.External != fmt.Sprintf("try%d--%d", try, i) {
					t.Fatalf("outcome %d: %+v", i, item)
				}
				contacts[item.ContactID] = true
			}
			if len(items) != rows || len(contacts) != rows {
				t.Fatalf("%d outcomes, %d contacts", len(items), len(contacts))
			}
			for i, s := range seen {
				inTheMiddle = inTheMiddle || s.Status == "processing"
				if i > 0 && s.Processed < seen[i-1].Processed {
					t.Fatalf("%d rows done after %d", s.Processed, seen[i-1].Processed)
				}
			}
		}
		if !inTheMiddle {
			t.Errorf("none of %d jobs was seen while it ran", jobs)
		}
		last := a.do(t, "GET", "/v1/contacts/try0-4999%40example.com", "").want(200).contact()
		if last.Attributes["city"] != "Graz" || len(last.Lists) != 1 {
			t.Errorf("%+v", last)
		}
	})
}

// TestBulkRowsFailAlone checks that an invalid row of a bulk write fails alone. Its outcome
// must have the index of the row and the invalid member.
func TestBulkRowsFailAlone(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.do(t, "PUT", "/v1/contacts/by-external-id/taken", `{"email":"taken@example.com"}`).want(201)
		job := a.postBulk(t, `{"contacts":[
			{"email":"first@example.com","unsubscribe_all":true},
			{"email":"nobody"}, 7, {"external_id":"unknown-one"},
			{"email":"taken@example.com","external_id":"another"},
			{"email":"b@example.com","attributes":{"no_such":1}},
			{"email":"b@example.com","lists":["nowhere"]},
			{"email":"b@example.com","unknown":1},
			{"email":"first@example.com","unsubscribe_all":null,"attributes":{"city":"Wien"}},
			{"email":"taken@example.com","external_id":"another","rebind_external_id":true}
		]}`)
		items, _ := a.follow(t, job, 3)
		var got []string
		for _, item := range items {
			text := item.Status + " " + item.Reason
			for _, e := range item.Errors {
				text += " " + e.Field
			}
			got = append(got, text)
		}
		want := []string{
			"created ", "failed validation_failed email", "failed validation_failed ", "failed unknown_external_id external_id",
			"failed contact_external_id_mismatch external_id", "failed attribute_validation_failed attributes.no_such",
			"failed validation_failed lists.0", "failed validation_failed unknown", "updated ", "updated ",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		// A write of this single contact fails with the same error code as the row of the
		// bulk write.
		a.do(t, "PUT", "/v1/contacts/by-external-id/unknown-one", `{}`).refused(422, core.CodeUnknownExternalID)
		first := a.do(t, "GET", "/v1/contacts/first%40example.com", "").want(200).contact()
		if !first.UnsubscribeAll || first.Attributes["city"] != "Wien" {
			t.Errorf("%+v", first)
		}
	})
}

// TestBulkIdempotency checks that a repeated bulk write with the same idempotency key and
// body returns the same job. Another body with the key is refused. The same key of another
// organization is independent.
func TestBulkIdempotency(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		body := bulkOf("keyed", 3)
		job := a.postBulk(t, body, keyHeader, "import-1")
		a.follow(t, job, 50)
		again := a.do(t, "POST", bulkPath, body, keyHeader, `"import-1"`).want(202)
		if again.header.Get("Idempotent-Replayed") != "true" || !strings.Contains(string(again.body), strings.TrimPrefix(job, bulkPath+"/")) {
			t.Errorf("%v %s", again.header, again.body)
		}
		a.do(t, "POST", bulkPath, bulkOf("keyed", 4), keyHeader, "import-1").refused(409, core.CodeConflict)
		if other := a.postBulk(t, body); other == job {
			t.Error("without a key it is the same job")
		}
		if theirs := a.as(a.Other.Live.APIKey).postBulk(t, `{"contacts":[{"email":"theirs@example.com"}]}`, keyHeader, "import-1"); theirs == job {
			t.Error("another organization's key is the same job")
		}
	})
}

// TestBulkJobsAreTheirOrganizations checks that other organizations cannot read a bulk
// write, and that a cursor is refused for another bulk write.
func TestBulkJobsAreTheirOrganizations(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		job := a.postBulk(t, bulkOf("mine", 3))
		other := a.as(a.Other.Live.APIKey)
		for _, reading := range []*answer{
			other.do(t, "GET", job, ""), other.do(t, "GET", job+"?limit=1", ""), a.do(t, "GET", bulkPath+"/"+core.NewID(), ""),
		} {
			reading.refused(404, core.CodeNotFound)
		}
		a.as(a.mint(t, core.ContactsView)).do(t, "GET", job, "").refused(403, core.CodeInvalidScope)
		a.as(a.mint(t, core.ContactsView)).do(t, "POST", bulkPath, bulkOf("mine", 1)).refused(403, core.CodeInvalidScope)
		a.follow(t, job, 50)
		cursor := *a.bulk(t, job, 0, 1, "").NextCursor
		second := a.postBulk(t, bulkOf("mine", 3))
		for _, wrong := range []string{second + "?cursor=" + cursor, job + "?cursor=x", job + "?limit=0", job + "?limit=201", job + "?page=2"} {
			a.do(t, "GET", wrong, "").refused(422, core.CodeValidationFailed)
		}
		if items, _ := a.follow(t, second, 2); len(items) != 3 || items[2].Status != "updated" {
			t.Errorf("%+v", items)
		}
	})
}

// TestBulkLimits checks that a bulk request may have 8 MiB and 5,000 rows. One byte or one
// row more is refused, and the refusal names the limit.
func TestBulkLimits(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const most = 8 << 20
		one := bulkOf("large", 1)
		exact := one + strings.Repeat(" ", most-len(one))
		a.follow(t, a.postBulk(t, exact), 1)
		over := a.do(t, "POST", bulkPath, exact+" ").refused(422, core.CodeValidationFailed)
		unannounced := a.request(t, "POST", bulkPath, exact)
		unannounced.Body, unannounced.ContentLength = io.NopCloser(strings.NewReader(exact+" ")), -1
		for _, refusal := range []core.Problem{over, a.send(t, unannounced).refused(422, core.CodeValidationFailed)} {
			if text, _ := json.Marshal(refusal); !strings.Contains(string(text), "more than 8 MiB") {
				t.Errorf("%s", text)
			}
		}
		for body, field := range map[string]string{
			bulkOf("many", 5001): "contacts", `{"contacts":[]}`: "contacts", `{"contacts":{}}`: "contacts", `{"contacts":null}`: "contacts",
			`{}`: "contacts", `{"contacts":[{}],"dry_run":true}`: "dry_run",
		} {
			refusal := a.do(t, "POST", bulkPath, body).refused(422, core.CodeValidationFailed)
			if len(refusal.Errors) != 1 || refusal.Errors[0].Field != field {
				t.Errorf("%.40s: %+v", body, refusal)
			}
		}
		a.do(t, "GET", "/v1/contacts/many0%40example.com", "").refused(404, core.CodeNotFound)
	})
}
