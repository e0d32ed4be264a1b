package domainauth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Arrivals stores files that arrive by mail, and what people decided about reporters.
type Arrivals struct{ db *engine.DB }

var (
	_ arrivals.RouteStore = Arrivals{}
	_ arrivals.FileStore  = Arrivals{}
	_ arrivals.Queue      = Arrivals{}
	_ arrivals.DeskStore  = Arrivals{}
	_ arrivals.PurgeStore = Arrivals{}
)

// NewArrivals returns the store of files that arrive on the database.
func NewArrivals(db *engine.DB) Arrivals { return Arrivals{db} }

const fileColumns = `org_id, id, domain_id, origin, name, message_id, sender, reporter, verdicts, state, problem, store_id, object_key, in_text, others, size,
	reports, duplicates, tls_reports, foreign_reports, attempts, due_at, received_at, updated_at`

var (
	domainByToken = engine.RegisterPoint("domain by token of reports", `
		SELECT org_id, id FROM domainauth_domains WHERE token = $1 AND `+engine.NotDeleted("org_id"))
	knownReportDomains = engine.Register("known domains of reports", `
		SELECT id FROM domainauth_domains WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	reportDomainName = engine.RegisterPoint("name of domain of reports", `
		SELECT domain FROM domainauth_domains WHERE org_id = $1 AND id = $2`)
	countReportFiles = engine.Register("count files of reports", `
		SELECT count(*) FROM (
			SELECT 1 AS one FROM domainauth_files WHERE org_id = $1 AND received_at > $2 AND domain_id = $3 AND origin = 'mail' LIMIT $4) AS latest`)
	knownReportFiles = engine.Register("known files of reports", `
		SELECT id FROM domainauth_files WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	addReportFiles = engine.Register("add files of reports", `
		INSERT INTO domainauth_files (org_id, id, domain_id, origin, name, message_id, sender, reporter, verdicts, state, problem, store_id, object_key, in_text,
			others, size, reports, duplicates, tls_reports, foreign_reports, attempts, due_at, received_at, updated_at)
		SELECT $1, v ->> 'id', v ->> 'domain', v ->> 'origin', v ->> 'name', v ->> 'message', v ->> 'sender', v ->> 'reporter', v ->> 'verdicts', v ->> 'state',
			v ->> 'problem', v ->> 'store', v ->> 'key', v ->> 'in_text' = 'yes', v ->> 'others', CAST(v ->> 'size' AS bigint),
			CAST(v ->> 'reports' AS bigint), CAST(v ->> 'duplicates' AS bigint), CAST(v ->> 'tls' AS bigint), CAST(v ->> 'foreign' AS bigint), 0,
			CAST(v ->> 'due' AS bigint), CAST(v ->> 'received' AS bigint), CAST(v ->> 'updated' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING RETURNING id`)
	claimReportFiles = engine.Register("claim files of reports", `
		UPDATE domainauth_files SET attempts = attempts + 1, due_at = $1
		WHERE (org_id, id) IN (SELECT f.org_id, f.id FROM domainauth_files AS f WHERE f.due_at <= $2 AND `+engine.NotDeleted("f.org_id")+` ORDER BY f.due_at, f.id LIMIT $3 /*pg FOR UPDATE SKIP LOCKED*/)
		RETURNING `+fileColumns)
	putOffReportFile = engine.Register("put off file of reports", `
		UPDATE domainauth_files SET due_at = $1 WHERE org_id = $2 AND id = $3 AND attempts = $4`)
	saveReportFile = engine.Register("save file of reports", `
		UPDATE domainauth_files SET reporter = $1, state = $2, problem = $3, store_id = $4, object_key = $5, in_text = $6, others = $7,
			reports = $8, duplicates = $9, tls_reports = $10, foreign_reports = $11, due_at = $12, updated_at = $13
		WHERE org_id = $14 AND id = $15 AND attempts = $16`)
	countReportsOfFile = engine.Register("count reports of file", `
		SELECT count(*) FROM domainauth_reports WHERE org_id = $1 AND file_id = $2 AND state = 'counted'`)
	decisionsAboutReporters = engine.Register("decisions about reporters", `
		SELECT reporter, decision FROM domainauth_reporters WHERE org_id = $1 AND reporter IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	// lockReporter changes nothing of a row that exists, and locks it.
	lockReporter = engine.Register("lock reporter", `
		INSERT INTO domainauth_reporters (org_id, reporter, decision, decided_at, decided_by) VALUES ($1, $2, '', $3, '')
		ON CONFLICT (org_id, reporter) DO UPDATE SET reporter = excluded.reporter RETURNING decision`)
	newestReportFiles = engine.Register("newest files of reports", `
		SELECT `+fileColumns+` FROM domainauth_files WHERE org_id = $1 AND (received_at, id) < ($2, $3) ORDER BY received_at DESC, id DESC LIMIT $4`)
	filteredReportFiles = engine.Register("filtered files of reports", `
		SELECT `+fileColumns+` FROM domainauth_files
		WHERE org_id = $1 AND (received_at, id) < ($2, $3) AND ($4 = '' OR state = $4) AND ($5 = '' OR domain_id = $5)
		ORDER BY received_at DESC, id DESC LIMIT $6`)
	reportersWithFiles = engine.Register("reporters with held files", `
		SELECT r.reporter, r.decision, r.decided_at, r.decided_by, count(f.id) AS held, max(f.received_at) AS last_held
		FROM domainauth_reporters AS r
		LEFT JOIN domainauth_files AS f ON f.org_id = r.org_id AND f.reporter = r.reporter AND f.state = 'held'
		WHERE r.org_id = $1 GROUP BY r.reporter, r.decision, r.decided_at, r.decided_by
		HAVING r.decision <> '' OR count(f.id) > 0
		ORDER BY CASE WHEN r.decision = '' THEN 1 ELSE 0 END, r.reporter LIMIT $2`)
	decideReporter = engine.Register("decide about reporter", `
		INSERT INTO domainauth_reporters (org_id, reporter, decision, decided_at, decided_by) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, reporter) DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at, decided_by = excluded.decided_by
		WHERE domainauth_reporters.decision <> excluded.decision`)
	releaseReportFiles = engine.Register("release files of reporter", `
		UPDATE domainauth_files SET due_at = $1 WHERE org_id = $2 AND reporter = $3 AND state = 'held'`)
	deleteReportFiles = engine.Register("delete files of reports", `
		DELETE FROM domainauth_files WHERE org_id = $1 AND id IN (
			SELECT f.id FROM domainauth_files AS f WHERE f.org_id = $1 AND f.received_at < $2 AND f.object_key = '' ORDER BY f.received_at, f.id LIMIT $3)`)
	forgetReporters = engine.Register("forget reporters", `
		DELETE FROM domainauth_reporters WHERE org_id = $1 AND decision = '' AND decided_at < $2 AND NOT EXISTS (
			SELECT 1 FROM domainauth_files AS f WHERE f.org_id = $1 AND f.reporter = domainauth_reporters.reporter AND f.state = 'held')`)
	heldReportFiles = engine.Register("objects of files of reports", `
		SELECT message_id, object_key, others FROM domainauth_files
		WHERE org_id = $1 AND object_key <> '' AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
)

// TokenDomain implements [arrivals.RouteStore].
func (s Arrivals) TokenDomain(ctx context.Context, token string) (arrivals.Target, error) {
	type row struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	found, err := engine.One[row](ctx, s.db, "domain", domainByToken, token)
	return arrivals.Target{OrgID: found.OrgID, DomainID: found.ID}, err
}

// KnownDomains implements [arrivals.FileStore].
func (s Arrivals) KnownDomains(ctx context.Context, orgID string, ids []string) ([]string, error) {
	parameter, err := engine.JSONParameter(ids)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, knownReportDomains, orgID, parameter)
}

// CountFiles implements [arrivals.FileStore].
func (s Arrivals) CountFiles(ctx context.Context, t arrivals.Target, since time.Time, limit int) (int, error) {
	return count(ctx, s.db, countReportFiles, t.OrgID, engine.At(since), t.DomainID, limit)
}

// KnownFiles implements [arrivals.FileStore].
func (s Arrivals) KnownFiles(ctx context.Context, orgID string, ids []string) ([]string, error) {
	parameter, err := engine.JSONParameter(ids)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, knownReportFiles, orgID, parameter)
}

// newFile is a file in a parameter with many rows.
type newFile struct {
	ID       string       `json:"id"`
	Domain   string       `json:"domain"`
	Origin   string       `json:"origin"`
	Name     string       `json:"name"`
	Message  string       `json:"message"`
	Sender   string       `json:"sender"`
	Reporter string       `json:"reporter"`
	Verdicts string       `json:"verdicts"`
	State    string       `json:"state"`
	Problem  string       `json:"problem"`
	Store    string       `json:"store"`
	Key      string       `json:"key"`
	InText   string       `json:"in_text"`
	Others   string       `json:"others"`
	Size     int64        `json:"size"`
	Reports  int          `json:"reports"`
	Dups     int          `json:"duplicates"`
	TLS      int          `json:"tls"`
	Foreign  int          `json:"foreign"`
	Due      *engine.Time `json:"due"`
	Received engine.Time  `json:"received"`
	Updated  engine.Time  `json:"updated"`
}

// AddFiles implements [arrivals.FileStore].
func (s Arrivals) AddFiles(ctx context.Context, orgID string, files []arrivals.File) ([]string, error) {
	rows := make([]newFile, len(files))
	for i, f := range files {
		others, err := engine.EncodeTexts(f.Stored.Others)
		if err != nil {
			return nil, err
		}
		rows[i] = newFile{
			ID: f.ID, Domain: f.DomainID, Origin: f.Origin, Name: f.Name, Message: f.MessageID, Sender: f.Sender, Reporter: f.Reporter, State: string(f.State),
			Problem: f.Problem, Store: f.Stored.StoreID, Key: f.Stored.Key, InText: "no", Others: others, Size: f.Size,
			Reports: f.Counts.Reports, Dups: f.Counts.Duplicates, TLS: f.Counts.TLSReports, Foreign: f.Counts.Foreign,
			Due: dueAt(f), Received: engine.At(f.ReceivedAt), Updated: engine.At(f.UpdatedAt),
		}
		if f.Stored.InText {
			rows[i].InText = "yes"
		}
		if f.Verdicts != nil {
			verdicts, err := json.Marshal(f.Verdicts)
			if err != nil {
				return nil, fmt.Errorf("storage: verdicts of file: %w", err)
			}
			rows[i].Verdicts = string(verdicts)
		}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, addReportFiles, orgID, parameter)
}

func dueAt(f arrivals.File) *engine.Time {
	if f.DueAt.IsZero() {
		return nil
	}
	return engine.OptionalAt(&f.DueAt)
}

// fileRow is a row of domainauth_files.
type fileRow struct {
	OrgID      string         `db:"org_id"`
	ID         string         `db:"id"`
	DomainID   string         `db:"domain_id"`
	Origin     string         `db:"origin"`
	Name       string         `db:"name"`
	MessageID  string         `db:"message_id"`
	Sender     string         `db:"sender"`
	Reporter   string         `db:"reporter"`
	Verdicts   string         `db:"verdicts"`
	State      arrivals.State `db:"state"`
	Problem    string         `db:"problem"`
	StoreID    string         `db:"store_id"`
	ObjectKey  string         `db:"object_key"`
	InText     bool           `db:"in_text"`
	Others     string         `db:"others"`
	Size       int64          `db:"size"`
	Reports    int            `db:"reports"`
	Duplicates int            `db:"duplicates"`
	TLSReports int            `db:"tls_reports"`
	Foreign    int            `db:"foreign_reports"`
	Attempts   int            `db:"attempts"`
	DueAt      *engine.Time   `db:"due_at"`
	ReceivedAt engine.Time    `db:"received_at"`
	UpdatedAt  engine.Time    `db:"updated_at"`
}

func (r fileRow) file() (arrivals.File, error) {
	others, err := engine.DecodeTexts(r.Others)
	f := arrivals.File{
		OrgID: r.OrgID, ID: r.ID, DomainID: r.DomainID, Origin: r.Origin, Name: r.Name, MessageID: r.MessageID, Sender: r.Sender, Reporter: r.Reporter,
		State: r.State, Problem: r.Problem, Stored: arrivals.Stored{StoreID: r.StoreID, Key: r.ObjectKey, InText: r.InText, Others: others}, Size: r.Size,
		Counts:   arrivals.Counts{Reports: r.Reports, Duplicates: r.Duplicates, TLSReports: r.TLSReports, Foreign: r.Foreign},
		Attempts: r.Attempts, ReceivedAt: r.ReceivedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
	if r.DueAt != nil {
		f.DueAt = r.DueAt.Time()
	}
	if err != nil || r.Verdicts == "" {
		return f, err
	}
	f.Verdicts = &inbound.Verdicts{}
	if err := json.Unmarshal([]byte(r.Verdicts), f.Verdicts); err != nil {
		return f, fmt.Errorf("storage: verdicts of file: %w", err)
	}
	return f, nil
}

// ClaimFiles implements [arrivals.Queue].
func (s Arrivals) ClaimFiles(ctx context.Context, now, until time.Time, limit int) ([]arrivals.File, error) {
	return engine.ListParsed(ctx, s.db, fileRow.file, claimReportFiles, engine.At(until), engine.At(now), limit)
}

// PutOff implements [arrivals.Queue].
func (s Arrivals) PutOff(ctx context.Context, f arrivals.File, due time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, putOffReportFile, engine.At(due), f.OrgID, f.ID, f.Attempts)
	return n == 1, err
}

// SaveFile implements [arrivals.Queue].
func (s Arrivals) SaveFile(ctx context.Context, f arrivals.File) (bool, error) {
	others, err := engine.EncodeTexts(f.Stored.Others)
	if err != nil {
		return false, err
	}
	n, err := s.db.Exec(ctx, saveReportFile, f.Reporter, string(f.State), f.Problem, f.Stored.StoreID, f.Stored.Key, f.Stored.InText, others,
		f.Counts.Reports, f.Counts.Duplicates, f.Counts.TLSReports, f.Counts.Foreign, dueAt(f), engine.At(f.UpdatedAt), f.OrgID, f.ID, f.Attempts)
	return n == 1, err
}

// CountReports implements [arrivals.Queue].
func (s Arrivals) CountReports(ctx context.Context, orgID, fileID string) (int, error) {
	return count(ctx, s.db, countReportsOfFile, orgID, fileID)
}

// DomainName implements [arrivals.Queue].
func (s Arrivals) DomainName(ctx context.Context, orgID, domainID string) (string, error) {
	type row struct {
		Domain string `db:"domain"`
	}
	found, err := engine.One[row](ctx, s.db, "domain", reportDomainName, orgID, domainID)
	return found.Domain, err
}

// Decisions implements [arrivals.Queue].
func (s Arrivals) Decisions(ctx context.Context, orgID string, reporters []string) (map[string]arrivals.Decision, error) {
	parameter, err := engine.EncodeTexts(reporters)
	if err != nil {
		return nil, err
	}
	type row struct {
		Reporter string            `db:"reporter"`
		Decision arrivals.Decision `db:"decision"`
	}
	rows, err := engine.List[row](ctx, s.db, decisionsAboutReporters, orgID, parameter)
	decisions := make(map[string]arrivals.Decision, len(rows))
	for _, r := range rows {
		decisions[r.Reporter] = r.Decision
	}
	return decisions, err
}

// LockDecision implements [arrivals.Queue].
func (s Arrivals) LockDecision(ctx context.Context, orgID, reporter string, now time.Time) (arrivals.Decision, error) {
	found, err := engine.Values[string](ctx, s.db, lockReporter, orgID, reporter, engine.At(now))
	if err != nil {
		return "", err
	}
	return arrivals.Decision(found[0]), nil
}

// Files implements [arrivals.DeskStore].
func (s Arrivals) Files(ctx context.Context, orgID string, f arrivals.FileFilter, after *core.After, limit int) ([]arrivals.File, error) {
	at, id := engine.PageStart(after)
	var files []arrivals.File
	var err error
	if f == (arrivals.FileFilter{}) {
		files, err = engine.ListParsed(ctx, s.db, fileRow.file, newestReportFiles, orgID, at, id, limit)
	} else {
		files, err = engine.ListParsed(ctx, s.db, fileRow.file, filteredReportFiles, orgID, at, id, string(f.State), f.DomainID, limit)
	}
	for i := range files {
		files[i].Stored = arrivals.Stored{}
	}
	return files, err
}

// Reporters implements [arrivals.DeskStore].
func (s Arrivals) Reporters(ctx context.Context, orgID string, limit int) ([]arrivals.Reporter, error) {
	type row struct {
		Reporter  string            `db:"reporter"`
		Decision  arrivals.Decision `db:"decision"`
		DecidedAt engine.Time       `db:"decided_at"`
		DecidedBy string            `db:"decided_by"`
		Held      int               `db:"held"`
		LastHeld  *engine.Time      `db:"last_held"`
	}
	return engine.ListAs(ctx, s.db, func(r row) arrivals.Reporter {
		return arrivals.Reporter{
			Name: r.Reporter, Decision: r.Decision, DecidedAt: r.DecidedAt.Time(), DecidedBy: r.DecidedBy, Held: r.Held, LastHeldAt: engine.OptionalTime(r.LastHeld),
		}
	}, reportersWithFiles, orgID, limit)
}

// Decide implements [arrivals.DeskStore].
func (s Arrivals) Decide(ctx context.Context, orgID, reporter string, d arrivals.Decision, by string, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, decideReporter, orgID, reporter, string(d), engine.At(now), by)
	return n == 1, err
}

// ReleaseFiles implements [arrivals.DeskStore].
func (s Arrivals) ReleaseFiles(ctx context.Context, orgID, reporter string, now time.Time) (int, error) {
	return s.db.Exec(ctx, releaseReportFiles, engine.At(now), orgID, reporter)
}

// DeleteFiles implements [arrivals.PurgeStore].
func (s Arrivals) DeleteFiles(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, deleteReportFiles, orgID, engine.At(before), limit)
}

// ForgetReporters implements [arrivals.PurgeStore].
func (s Arrivals) ForgetReporters(ctx context.Context, orgID string, before time.Time) error {
	_, err := s.db.Exec(ctx, forgetReporters, orgID, engine.At(before))
	return err
}

// Held returns which objects the files of messages need; see spool.Holder.
func (s Arrivals) Held(ctx context.Context, orgID string, messageIDs []string) ([]inbound.Holding, error) {
	parameter, err := engine.JSONParameter(messageIDs)
	if err != nil {
		return nil, err
	}
	type row struct {
		MessageID string `db:"message_id"`
		ObjectKey string `db:"object_key"`
		Others    string `db:"others"`
	}
	return engine.ListParsed(ctx, s.db, func(r row) (inbound.Holding, error) {
		others, err := engine.DecodeTexts(r.Others)
		return inbound.Holding{MessageID: r.MessageID, Keys: append(others, r.ObjectKey)}, err
	}, heldReportFiles, orgID, parameter)
}
