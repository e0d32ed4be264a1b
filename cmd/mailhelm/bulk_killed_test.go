package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// killedTries is how often the test tries to kill a server during a bulk write. A try is
// wasted if the write ends before the kill.
const killedTries = 5

// killedRows returns the number of rows of the bulk write. 3000 rows are stored in three
// transactions. The test kills the server after the first transaction, so the kill
// interrupts the second or the third.
func killedRows() int {
	if enginetest.Full() {
		return 5000
	}
	return 3000
}

// bulkProgress holds the members that the tests read from the API's response about a bulk
// write.
type bulkProgress struct {
	Status     string `json:"status"`
	Total      int    `json:"total"`
	Processed  int    `json:"processed"`
	Succeeded  int    `json:"succeeded"`
	NextCursor string `json:"next_cursor"`
	Results    []struct {
		Index     int    `json:"index"`
		Status    string `json:"status"`
		ContactID string `json:"contact_id"`
		Email     string `json:"email"`
	} `json:"results"`
}

// servers starts one server after another on the same database. launch starts one and
// returns its process and addresses.
type servers struct {
	database storage.Config
	launch   func() (*process, demoOutput)
}

// newServers returns servers on a new database that has an organization with an API key.
// Starting a server adds the attribute city to the organization.
func newServers(t *testing.T, postgres bool) servers {
	t.Helper()
	s := newShell(t, postgres).migrate()
	org := s.does("org", "create", "acme")["id"].(string)
	key := s.does("key", "create", "acme", "--name", "CI", "--scopes", "all")["secret"].(string)
	return servers{s.database, func() (*process, demoOutput) {
		server, port := launchServe(t, nil, s.where...)
		d := demoOutput{"base_url": fmt.Sprintf("http://localhost:%d", port), "org_id": org, "api_key": key}
		made := request(t, http.MethodPost, d["base_url"]+"/v1/attributes", key, `{"name":"city","type":"string"}`)
		if made.status != http.StatusCreated && made.status != http.StatusConflict {
			t.Fatalf("attribute: %d %s", made.status, made.body)
		}
		return server, d
	}}
}

// TestBulkWriteOutlivesAKilledServer kills a server during a bulk write of contacts and
// starts it again. The restarted server must finish the write and store every row exactly
// once. The result of a row stored twice would be "updated" instead of "created".
func TestBulkWriteOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) { checkBulkSurvivesKill(t, newServers(t, postgres)) })
}

func checkBulkSurvivesKill(t *testing.T, s servers) {
	t.Helper()
	job, prefix, at := killDuringBulk(t, s)

	_, d := s.launch()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		p := readBulk(t, d, job, 1, "")
		if p.Processed < at {
			t.Fatalf("%d rows are done, %d were", p.Processed, at)
		}
		if p.Status == "completed" {
			break
		}
		if time.Since(began) > startTimeout {
			t.Fatalf("not done after %v: %+v", startTimeout, p)
		}
	}
	everyRowOnce(t, d, job, prefix)
	if got := len(pages(t, d, "/v1/lists/"+prefix+"list/members?limit=200")); got != killedRows() {
		t.Errorf("%d members of the list, want %d", got, killedRows())
	}
	for _, i := range []int{0, killedRows() - 1} {
		person := fmt.Sprintf("%s/v1/contacts/%s%d@example.com", d["base_url"], prefix, i)
		if a := request(t, http.MethodGet, person, d["api_key"], ""); a.status != http.StatusOK || !strings.Contains(a.body, `"city":"Graz"`) {
			t.Errorf("%s: %d %s", person, a.status, a.body)
		}
	}
}

// killDuringBulk starts servers and kills each during a bulk write, until a killed
// server left some rows processed and others not. It returns the path of the bulk job, the
// prefix of its email addresses, and the number of processed rows.
func killDuringBulk(t *testing.T, s servers) (string, string, int) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for try := range killedTries {
		server, d := s.launch()
		prefix := fmt.Sprintf("try%d-", try)
		id := postPeople(t, d, prefix)
		job := "/v1/contacts/bulk/" + id
		for began := time.Now(); readBulk(t, d, job, 1, "").Processed == 0; <-again.C {
			if time.Since(began) > startTimeout {
				t.Fatalf("no row is done after %v", startTimeout)
			}
		}
		server.signal(syscall.SIGKILL)
		if !server.waits() {
			t.Fatal("the server outlives SIGKILL")
		}
		db, err := storage.Open(t.Context(), s.database)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := bulkstore.NewJobStore(db.DB).BulkJob(t.Context(), d["org_id"], id)
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if stored.Processed < stored.Total {
			return job, prefix, stored.Processed
		}
	}
	t.Fatalf("%d bulk writes ended before their server", killedTries)
	return "", "", 0
}

// postPeople creates a list and starts a bulk write that creates new contacts on the list.
// It returns the id of the bulk job.
func postPeople(t *testing.T, d demoOutput, prefix string) string {
	t.Helper()
	made := request(t, http.MethodPost, d["base_url"]+"/v1/lists", d["api_key"], fmt.Sprintf(`{"name":"N","key":"%slist"}`, prefix))
	if made.status != http.StatusCreated {
		t.Fatalf("list: %d %s", made.status, made.body)
	}
	rows := make([]string, killedRows())
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"email":"%[1]s%[2]d@example.com","external_id":"%[1]s%[2]d","attributes":{"city":"Graz"},"lists":["%[1]slist"]}`, prefix, i)
	}
	taken := request(t, http.MethodPost, d["base_url"]+"/v1/contacts/bulk", d["api_key"], `{"contacts":[`+strings.Join(rows, ",")+`]}`)
	var accepted struct {
		JobID string `json:"job_id"`
	}
	if err := json.Unmarshal([]byte(taken.body), &accepted); err != nil || taken.status != http.StatusAccepted {
		t.Fatalf("bulk: %d %s", taken.status, taken.body)
	}
	return accepted.JobID
}

// readBulk returns the progress of a bulk job, with at most limit results from the cursor on.
func readBulk(t *testing.T, d demoOutput, job string, limit int, cursor string) bulkProgress {
	t.Helper()
	a := request(t, http.MethodGet, fmt.Sprintf("%s%s?limit=%d&cursor=%s", d["base_url"], job, limit, cursor), d["api_key"], "")
	var p bulkProgress
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != http.StatusOK || p.Status == "failed" {
		t.Fatalf("%s: %d %.300s", job, a.status, a.body)
	}
	return p
}

// everyRowOnce checks the results of a finished bulk job: each row created one contact, and
// the results are in the order of the rows.
func everyRowOnce(t *testing.T, d demoOutput, job, prefix string) {
	t.Helper()
	contacts, cursor := map[string]bool{}, ""
	for done := 0; ; {
		p := readBulk(t, d, job, 200, cursor)
		for _, item := range p.Results {
			if item.Index != done || item.Status != "created" || item.Email != fmt.Sprintf("%s%d@example.com", prefix, done) {
				t.Fatalf("outcome %d: %+v", done, item)
			}
			contacts[item.ContactID] = true
			done++
		}
		if cursor = p.NextCursor; cursor != "" {
			continue
		}
		if done != killedRows() || len(contacts) != killedRows() || p.Succeeded != killedRows() {
			t.Errorf("%d outcomes, %d contacts: %+v", done, len(contacts), p)
		}
		return
	}
}
