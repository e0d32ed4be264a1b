package domainauth

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Intake stores reports.
type Intake struct{ Store }

var _ intake.Store = Intake{}

// NewIntake returns the store of reports on the database.
func NewIntake(db *engine.DB) Intake { return Intake{New(db)} }

var (
	verifiedAbove = engine.Register("verified identities that cover a domain", `
		SELECT count(*) FROM identities WHERE org_id = $1 AND verification = 'success' AND identity_key IN (SELECT j.atom FROM json_each($2) AS j)`)
	lockDomains = engine.Register("lock domains of reports", `
		SELECT id FROM domainauth_domains WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each($2) AS j) ORDER BY id /*pg FOR UPDATE*/`)
	reportByIdentity = engine.RegisterPoint("report by identity", `
		SELECT id, domain_id, day, state FROM domainauth_reports WHERE org_id = $1 AND domain_id = $2 AND identity = $3`)
	discardRows = engine.Register("discard records of a report", `
		DELETE FROM domainauth_rows WHERE org_id = $1 AND domain_id = $2 AND day = $3 AND report = $4
			AND n < (SELECT MIN(r.n) + $5 FROM domainauth_rows AS r WHERE r.org_id = $1 AND r.domain_id = $2 AND r.day = $3 AND r.report = $4)`)
	discardReport = engine.Register("discard report", `
		DELETE FROM domainauth_reports WHERE org_id = $1 AND id = $2 AND state = 'reading'`)
	addReports = engine.Register("add reports", `
		INSERT INTO domainauth_reports (org_id, id, domain_id, file_id, identity, reporter, organization, report_id, begins_at, ends_at, day, policy, state,
			records, messages, passing, warnings, received_at)
		SELECT $1, v ->> 'id', v ->> 'domain', v ->> 'file', v ->> 'identity', v ->> 'reporter', v ->> 'organization', v ->> 'report',
			CAST(v ->> 'begin' AS bigint), CAST(v ->> 'end' AS bigint), CAST(v ->> 'day' AS bigint), v ->> 'policy', v ->> 'state',
			CAST(v ->> 'records' AS bigint), CAST(v ->> 'messages' AS bigint), CAST(v ->> 'passing' AS bigint), v ->> 'warnings', CAST(v ->> 'received' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE ON CONFLICT DO NOTHING RETURNING identity`)
	finishReport = engine.Register("finish report", `
		UPDATE domainauth_reports SET state = 'counted', records = $1, messages = $2, passing = $3, warnings = $4 WHERE org_id = $5 AND id = $6 AND state = 'reading'`)
	addRows = engine.Register("add records of reports", `
		INSERT INTO domainauth_rows (org_id, domain_id, day, report, n, source, ip, messages, disposition, dkim, spf, relayed, header_from, envelope_from, details)
		SELECT $1, v ->> 0, CAST(v ->> 1 AS bigint), v ->> 2, CAST(v ->> 3 AS bigint), v ->> 4, v ->> 5, CAST(v ->> 6 AS bigint), v ->> 7,
			CAST(v ->> 8 AS boolean), CAST(v ->> 9 AS boolean), CAST(v ->> 10 AS boolean), v ->> 11, v ->> 12, v ->> 13
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE`)
	sourcesByKey = engine.Register("sources by key", `
		SELECT domain_id, id, key, name, provider, classification, support, first_day, last_day, sample_ips FROM domainauth_sources
		WHERE org_id = $1 AND domain_id = $2 AND key IN (SELECT j.atom FROM json_each($3) AS j) ORDER BY key`)
	saveSources = engine.Register("save sources", `
		INSERT INTO domainauth_sources (org_id, domain_id, id, key, name, provider, classification, support, decision, decided_by, first_day, last_day, sample_ips)
		SELECT $1, v ->> 'domain', v ->> 'id', v ->> 'key', v ->> 'name', v ->> 'provider', v ->> 'class', v ->> 'support', 'unreviewed', '',
			CAST(v ->> 'first' AS bigint), CAST(v ->> 'last' AS bigint), v ->> 'ips'
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, domain_id, id) DO UPDATE SET classification = excluded.classification, support = excluded.support,
			first_day = excluded.first_day, last_day = excluded.last_day, sample_ips = excluded.sample_ips`)
	addDaily   = engine.Register("add to daily figures", addFiguresTo("domainauth_daily", "day", "source"))
	addMonthly = engine.Register("add to monthly figures", addFiguresTo("domainauth_monthly", "month", "source"))
	addTotals  = engine.Register("add to figures of all sources", addFiguresTo("domainauth_totals", "day"))
	addDays    = engine.Register("add days of reporters", `
		INSERT INTO domainauth_reporter_days (org_id, domain_id, day, reporter)
		SELECT $1, v ->> 'domain', CAST(v ->> 'day' AS bigint), v ->> 'reporter' FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE ON CONFLICT DO NOTHING`)
	// noteReports makes the findings and events of domains due. While they are computed,
	// refresh_at is a later time, and the reports may not be part of them.
	noteReports = engine.Register("note reports of domain", `
		UPDATE domainauth_domains SET last_report_at = CASE WHEN last_report_at > $1 THEN last_report_at ELSE $1 END, refresh_at = CASE WHEN refresh_at < $2 THEN refresh_at ELSE $2 END
		WHERE org_id = $3 AND id = $4`)
)

// addFiguresTo returns the statement that adds cells to rows of a table of figures. Cells have
// at most intake.MaxMessages.
func addFiguresTo(table string, keys ...string) string {
	values, sets := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		values[i] = "CAST(v ->> " + strconv.Itoa(i+2+len(keys)-1) + " AS bigint)"
		sum := table + "." + c + " + excluded." + c
		sets[i] = c + " = CASE WHEN " + sum + " > 1099511627776 THEN 1099511627776 ELSE " + sum + " END"
	}
	named := make([]string, len(keys))
	for i, k := range keys {
		named[i] = "v ->> " + strconv.Itoa(i+1)
		if k != "source" {
			named[i] = "CAST(" + named[i] + " AS bigint)"
		}
	}
	all := strings.Join(keys, ", ")
	return `
		INSERT INTO ` + table + ` (org_id, domain_id, ` + all + `, ` + strings.Join(columns, ", ") + `)
		SELECT $1, v ->> 0, ` + strings.Join(named, ", ") + `, ` + strings.Join(values, ", ") + ` FROM ` + engine.ParameterRows(`$2`) + ` WHERE TRUE
		ON CONFLICT (org_id, domain_id, ` + all + `) DO UPDATE SET ` + strings.Join(sets, ", ")
}

// Target implements [intake.Store].
func (s Intake) Target(ctx context.Context, orgID, name string) (intake.Domain, error) {
	row, err := engine.One[domainRow](ctx, s.db, "domain", domainByName, orgID, name)
	if err != nil {
		return intake.Domain{}, err
	}
	d, err := row.domain()
	return intake.Domain{ID: d.ID, Name: d.Domain, Snapshot: d.Snapshot}, err
}

// Sends implements [intake.Store].
func (s Intake) Sends(ctx context.Context, orgID, name string) (bool, error) {
	var above []string
	for ; strings.Contains(name, "."); _, name, _ = strings.Cut(name, ".") {
		above = append(above, name)
	}
	names, err := engine.EncodeTexts(above)
	if err != nil {
		return false, err
	}
	n, err := count(ctx, s.db, verifiedAbove, orgID, names)
	return n > 0, err
}

// storedRow is what is stored of a report.
type storedRow struct {
	ID       string `db:"id"`
	DomainID string `db:"domain_id"`
	Day      int64  `db:"day"`
	State    string `db:"state"`
}

// Stored implements [intake.Store].
func (s Intake) Stored(ctx context.Context, orgID, domainID, identity string) (intake.Stored, error) {
	r, err := engine.One[storedRow](ctx, s.db, "report", reportByIdentity, orgID, domainID, identity)
	return intake.Stored{ID: r.ID, DomainID: r.DomainID, Day: dayTime(r.Day), Counted: r.State == stateCounted}, err
}

// The states of reports.
const (
	stateReading = "reading"
	stateCounted = "counted"
)

// Discard implements [intake.Store].
func (s Intake) Discard(ctx context.Context, orgID string, r intake.Stored, limit int) (bool, error) {
	n, err := s.db.Exec(ctx, discardRows, orgID, r.DomainID, dayNumber(r.Day), r.ID, limit)
	if err != nil || n == limit {
		return false, err
	}
	_, err = s.db.Exec(ctx, discardReport, orgID, r.ID)
	return err == nil, err
}

// LockDomains implements [intake.Store].
func (s Intake) LockDomains(ctx context.Context, orgID string, ids []string) error {
	parameter, err := engine.EncodeTexts(ids)
	if err != nil {
		return err
	}
	_, err = engine.Values[string](ctx, s.db, lockDomains, orgID, parameter)
	return err
}

// reportRow is a report as a parameter.
type reportRow struct {
	ID           string      `json:"id"`
	DomainID     string      `json:"domain"`
	FileID       string      `json:"file"`
	Identity     string      `json:"identity"`
	Reporter     string      `json:"reporter"`
	Organization string      `json:"organization"`
	ReportID     string      `json:"report"`
	Begin        engine.Time `json:"begin"`
	End          engine.Time `json:"end"`
	Day          int64       `json:"day"`
	Policy       string      `json:"policy"`
	State        string      `json:"state"`
	Records      int         `json:"records"`
	Messages     int64       `json:"messages"`
	Passing      int64       `json:"passing"`
	Warnings     string      `json:"warnings"`
	Received     engine.Time `json:"received"`
}

// AddReports implements [intake.Store].
func (s Intake) AddReports(ctx context.Context, orgID string, all []intake.Report) (map[string]bool, error) {
	known := map[string]bool{}
	if len(all) == 0 {
		return known, nil
	}
	rows := make([]reportRow, len(all))
	for i, r := range all {
		warnings, err := engine.JSONParameter(r.Warnings)
		if err != nil {
			return nil, err
		}
		state := stateReading
		if r.Counted {
			state = stateCounted
		}
		rows[i] = reportRow{
			r.ID, r.DomainID, r.FileID, r.Identity, r.Reporter, r.Organization, r.ReportID, engine.At(r.Begin), engine.At(r.End), dayNumber(r.Day),
			r.Policy, state, r.Records, r.Messages, r.Passing, warnings, engine.At(r.ReceivedAt),
		}
		known[r.Identity] = true
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	added, err := engine.Values[string](ctx, s.db, addReports, orgID, parameter)
	for _, identity := range added {
		delete(known, identity)
	}
	return known, err
}

// Finish implements [intake.Store].
func (s Intake) Finish(ctx context.Context, orgID string, r intake.Report) (bool, error) {
	warnings, err := engine.JSONParameter(r.Warnings)
	if err != nil {
		return false, err
	}
	n, err := s.db.Exec(ctx, finishReport, r.Records, r.Messages, r.Passing, warnings, orgID, r.ID)
	return n > 0, err
}

// AddRows implements [intake.Store].
func (s Intake) AddRows(ctx context.Context, orgID string, rows []intake.Row) error {
	if len(rows) == 0 {
		return nil
	}
	values := make([][14]any, len(rows))
	for i := range rows {
		r := &rows[i]
		values[i] = [...]any{
			r.DomainID, dayNumber(r.Day), r.ReportID, r.N, r.SourceID, r.IP.String(), r.Messages, r.Disposition, r.DKIM, r.SPF, r.Relayed,
			r.HeaderFrom, r.EnvelopeFrom, r.Details,
		}
	}
	return engine.ExecRows(ctx, s.db, addRows, orgID, values)
}

// keyedRow is a source as it is stored.
type keyedRow struct {
	DomainID string                 `db:"domain_id"      json:"domain"`
	ID       string                 `db:"id"             json:"id"`
	Key      string                 `db:"key"            json:"key"`
	Name     string                 `db:"name"           json:"name"`
	Provider string                 `db:"provider"       json:"provider"`
	Class    figures.Classification `db:"classification" json:"class"`
	Support  string                 `db:"support"        json:"support"`
	First    int64                  `db:"first_day"      json:"first"`
	Last     int64                  `db:"last_day"       json:"last"`
	IPs      string                 `db:"sample_ips"     json:"ips"`
}

// unseen is the day of a source without a report that counts.
const unseen = -1

func (r keyedRow) source() (intake.Source, error) {
	ips, err := engine.DecodeTexts(r.IPs)
	if err != nil {
		return intake.Source{}, err
	}
	s := intake.Source{DomainID: r.DomainID, ID: r.ID, Key: r.Key, Name: r.Name, Provider: r.Provider, Classification: r.Class, Support: intake.Support{}, IPs: ips}
	var days map[figures.Classification]int64
	err = json.Unmarshal([]byte(r.Support), &days)
	for c, day := range days {
		s.Support[c] = dayTime(day)
	}
	if r.Last != unseen {
		s.First, s.Last = dayTime(r.First), dayTime(r.Last)
	}
	return s, err
}

// Sources implements [intake.Store].
func (s Intake) Sources(ctx context.Context, orgID, domainID string, keys []string) ([]intake.Source, error) {
	parameter, err := engine.EncodeTexts(keys)
	if err != nil {
		return nil, err
	}
	return engine.ListParsed(ctx, s.db, keyedRow.source, sourcesByKey, orgID, domainID, parameter)
}

// SaveSources implements [intake.Store].
func (s Intake) SaveSources(ctx context.Context, orgID string, all []intake.Source) error {
	if len(all) == 0 {
		return nil
	}
	rows := make([]keyedRow, len(all))
	for i := range all {
		o := &all[i]
		ips, err := engine.EncodeTexts(o.IPs)
		if err != nil {
			return err
		}
		days := make(map[figures.Classification]int64, len(o.Support))
		for c, day := range o.Support {
			days[c] = dayNumber(day)
		}
		support, err := json.Marshal(days)
		if err != nil {
			return err
		}
		rows[i] = keyedRow{o.DomainID, o.ID, o.Key, o.Name, o.Provider, o.Classification, string(support), unseen, unseen, ips}
		if !o.Last.IsZero() {
			rows[i].First, rows[i].Last = dayNumber(o.First), dayNumber(o.Last)
		}
	}
	return engine.ExecRows(ctx, s.db, saveSources, orgID, rows)
}

// figuresKey names a row of a table of figures.
type figuresKey struct {
	domain, source string
	day            int64
}

// AddFigures implements [intake.Store].
func (s Intake) AddFigures(ctx context.Context, orgID string, f intake.Figures) error {
	daily, monthly, totals := map[figuresKey]intake.Cells{}, map[figuresKey]intake.Cells{}, map[figuresKey]intake.Cells{}
	for at, cells := range f.Messages {
		day := dayNumber(at.Day)
		addTo(daily, figuresKey{at.DomainID, at.SourceID, day}, cells)
		addTo(monthly, figuresKey{at.DomainID, at.SourceID, monthNumber(day)}, cells)
		addTo(totals, figuresKey{at.DomainID, "", day}, cells)
	}
	for _, t := range []struct {
		statement *engine.Statement
		rows      map[figuresKey]intake.Cells
	}{{addDaily, daily}, {addMonthly, monthly}, {addTotals, totals}} {
		if err := engine.ExecRows(ctx, s.db, t.statement, orgID, figureRows(t.rows, t.statement != addTotals)); err != nil {
			return err
		}
	}
	return s.addCoverage(ctx, orgID, f)
}

func addTo(rows map[figuresKey]intake.Cells, key figuresKey, cells intake.Cells) {
	if rows[key] == nil {
		rows[key] = intake.Cells{}
	}
	for c, n := range cells {
		rows[key][c] = min(figures.Add(rows[key][c], n), intake.MaxMessages)
	}
}

// figureRows returns rows of figures as arrays: the domain, the day, the source if the table has
// one, and the columns.
func figureRows(rows map[figuresKey]intake.Cells, bySource bool) [][]any {
	all := make([][]any, 0, len(rows))
	for key, cells := range rows {
		row := make([]any, 0, len(columns)+3) //nolint:mnd // the key
		row = append(row, key.domain, key.day)
		if bySource {
			row = append(row, key.source)
		}
		for _, d := range dispositions {
			for _, o := range outcomes {
				row = append(row, cells[intake.Cell{Disposition: d, Outcome: o}])
			}
		}
		all = append(all, row)
	}
	return all
}

// reporterDayRow is a day that a reporter covers, as a parameter.
type reporterDayRow struct {
	DomainID string `json:"domain"`
	Day      int64  `json:"day"`
	Reporter string `json:"reporter"`
}

// addCoverage stores which days reports cover, and when domains got them.
func (s Intake) addCoverage(ctx context.Context, orgID string, f intake.Figures) error {
	days := make([]reporterDayRow, 0, len(f.Coverage))
	for d := range f.Coverage {
		days = append(days, reporterDayRow{d.DomainID, dayNumber(d.Day), d.Reporter})
	}
	if err := engine.ExecRows(ctx, s.db, addDays, orgID, days); err != nil {
		return err
	}
	for id, received := range f.Received {
		if err := s.noteReports(ctx, orgID, id, received, f.Now); err != nil {
			return err
		}
	}
	return nil
}

func (s Intake) noteReports(ctx context.Context, orgID, id string, received, now time.Time) error {
	_, err := s.db.Exec(ctx, noteReports, engine.At(received), engine.At(now), orgID, id)
	return err
}

var countRows = engine.Register("count records of reports", `
		SELECT count(*) FROM domainauth_rows WHERE org_id = $1 AND domain_id = $2`)

// CountRows returns the number of records of a domain that are kept.
func (s Intake) CountRows(ctx context.Context, orgID, domainID string) (int, error) {
	return count(ctx, s.db, countRows, orgID, domainID)
}
