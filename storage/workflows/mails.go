package workflows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// MailStore stores the messages of runs.
type MailStore struct{ db *db.DB }

var _ workflows.MailStore = MailStore{}

// NewMailStore returns the store of messages of runs on the database.
func NewMailStore(on *db.DB) MailStore { return MailStore{on} }

var (
	addSends = db.Register("add sends of a workflow", `
		INSERT INTO workflow_sends (org_id, id, workflow_id, version, node_path, template, topic, transactional)
		SELECT $1, v ->> 'id', v ->> 'workflow', CAST(v ->> 'version' AS bigint), v ->> 'node', v ->> 'template', v ->> 'topic',
			CASE CAST(v ->> 'transactional' AS text) WHEN 'true' THEN TRUE WHEN '1' THEN TRUE ELSE FALSE END
		FROM `+db.ParameterRows(`$2`)+` WHERE TRUE ON CONFLICT DO NOTHING`)
	addMails = db.Register("add mails of a workflow", `
		INSERT INTO workflow_mails (org_id, send_id, id, run_id, contact_id, at, state)
		SELECT $1, v ->> 'send', v ->> 'id', v ->> 'run', v ->> 'contact', CAST($2 AS bigint), 'pending' FROM `+db.ParameterRows(`$3`)+` WHERE TRUE`)
	addMailRecipients = db.Register("add recipients of workflow mails", `
		INSERT INTO handover_recipients (org_id, send_id, recipient, email, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier, created_at)
		SELECT $1, v ->> 'send', v ->> 'id', v ->> 'email', 'pending', 0, '', CAST($2 AS bigint), CAST($2 AS bigint), '', '', '', CAST($2 AS bigint)
		FROM `+db.ParameterRows(`$3`)+` WHERE TRUE`)
	mailTimes = db.Register("mails of contacts", `
		SELECT m.contact_id, m.at FROM workflow_mails AS m WHERE m.org_id = $1 AND m.at >= $2 AND m.state IN ('pending', 'sent')
		AND m.contact_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	// openSends reads one row of the partial index workflow_mails_open for each send; see
	// busyWorkflows.
	openSends = db.Register("open sends of workflows", `
		SELECT s.org_id, s.id FROM workflow_sends AS s
		WHERE (SELECT m.id FROM workflow_mails AS m WHERE m.org_id = s.org_id AND m.send_id = s.id AND m.state = 'pending' ORDER BY m.id LIMIT 1) IS NOT NULL
			AND `+db.NotDeleted("s.org_id")+`
		ORDER BY random() LIMIT $1`)
	sendByID = db.RegisterPoint("send of a workflow", `
		SELECT `+sendColumns+` FROM workflow_sends AS s JOIN workflows AS w ON w.org_id = s.org_id AND w.id = s.workflow_id WHERE s.org_id = $1 AND s.id = $2`)
	lockSend = db.Register("lock send of a workflow", `
		SELECT `+sendColumns+` FROM workflow_sends AS s JOIN workflows AS w ON w.org_id = s.org_id AND w.id = s.workflow_id WHERE s.org_id = $1 AND s.id = $2
		/*pg FOR UPDATE OF w*/`)
	contactsOfMails = db.Register("contacts of workflow mails", `
		SELECT c.id, c.contact_id FROM `+db.RowsNamed("workflow_mails", db.Named{Column: "send_id", Equals: "$3"}, db.Named{Column: "id", Equals: "j.atom"}))
	// judgedContacts finds the contacts by the primary key. A topic that does not exist any
	// more counts as opted out.
	judgedContacts = db.Register("recipients of workflow mails", `
		WITH c AS MATERIALIZED (SELECT c.* FROM `+db.RowsNamed("contacts", db.Named{Column: "id", Equals: "j.atom"})+`)
		SELECT c.id, c.email, c.attributes, CASE
			WHEN EXISTS (SELECT 1 FROM suppressed_addresses AS x WHERE x.org_id = c.org_id AND x.email_key = c.email_key) THEN 'suppressed'
			WHEN c.status <> 'active' THEN 'unsubscribed_all'
			WHEN CAST($3 AS boolean) THEN ''
			WHEN c.stub OR c.unsubscribe_all THEN 'unsubscribed_all'
			WHEN CAST($4 AS bytetext) <> '' AND coalesce(
				(SELECT p.subscription FROM contact_topics AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = $4),
				(SELECT d.default_subscription FROM topics AS d WHERE d.org_id = c.org_id AND d.name = $4 AND d.status = 'active'), 'OPT_OUT') = 'OPT_OUT' THEN 'opted_out'
			ELSE '' END AS reason FROM c`)
	settledMails = db.Register("outcomes of workflow mails", `
		SELECT m.id, m.run_id, m.contact_id, h.state, h.reason, h.tier FROM workflow_mails AS m
		JOIN handover_recipients AS h ON h.org_id = m.org_id AND h.send_id = m.send_id AND h.recipient = m.id
		WHERE m.org_id = $1 AND m.send_id = $2 AND m.state = 'pending' AND h.state IN ('sent', 'failed', 'filtered')
		ORDER BY m.id LIMIT $3 /*pg FOR UPDATE OF m SKIP LOCKED*/`)
	settleMails = db.Register("settle workflow mails", `
		UPDATE workflow_mails SET state = v ->> 'state' FROM `+db.ParameterRows(`$1`)+`
		WHERE /*pg v ->> 'id' = coalesce(v ->> 'id', '') AND*/ org_id = $2 AND send_id = $3 AND id = v ->> 'id' AND state /*pg || ''*/ = 'pending'`)
	// failedRecipients locks the recipients, so that an event that proves that a message was
	// sent waits until the outcome is stored, and then corrects it.
	failedRecipients = db.Register("failed recipients of workflow mails", `
		SELECT h.recipient FROM handover_recipients AS h
		WHERE h.org_id = $1 AND h.send_id = $2 AND h.recipient IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j) AND h.state = 'failed'
		ORDER BY h.recipient /*pg FOR UPDATE OF h*/`)
	correctMails = db.Register("correct workflow mails", `
		UPDATE workflow_mails SET state = 'sent' FROM `+db.ParameterRows(`$1`)+`
		WHERE /*pg v ->> 'id' = coalesce(v ->> 'id', '') AND*/ org_id = $2 AND send_id = v ->> 'send' AND id = v ->> 'id' AND state /*pg || ''*/ = 'failed'
		AND EXISTS (SELECT 1 FROM handover_recipients AS h
			WHERE h.org_id = $2 AND h.send_id = v ->> 'send' AND h.recipient = v ->> 'id' AND h.state /*pg || ''*/ = 'sent')`)
	// continueRuns lets runs continue whose message has an outcome.
	continueRuns = db.Register("continue runs", `
		UPDATE workflow_runs SET phase = 'sent', wake_at = $1
		WHERE org_id = $2 AND workflow_id = $3 AND id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j) AND phase = 'sending' AND status = 'active'`)
	runsOfMails = db.Register("runs of workflow mails", `
		SELECT `+runColumns+` FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
)

const sendColumns = `s.id, s.workflow_id, s.version, s.node_path, s.template, s.topic, s.transactional, w.status`

// sendRow is the send of a step, in both directions.
type sendRow struct {
	ID            string `db:"id" json:"id"`
	WorkflowID    string `db:"workflow_id" json:"workflow"`
	Version       int    `db:"version" json:"version"`
	NodePath      string `db:"node_path" json:"node"`
	Template      string `db:"template" json:"template"`
	Topic         string `db:"topic" json:"topic"`
	Transactional bool   `db:"transactional" json:"transactional"`
	Status        string `db:"status" json:"-"`
}

// mailRow is a message in a parameter.
type mailRow struct {
	Send    string `json:"send"`
	ID      string `json:"id"`
	Run     string `json:"run"`
	Contact string `json:"contact"`
	Email   string `json:"email"`
}

func (s MailStore) AddMails(ctx context.Context, orgID string, mails []workflows.Mail, now time.Time) error {
	if len(mails) == 0 {
		return nil
	}
	var sends []sendRow
	known := map[string]bool{}
	rows := make([]mailRow, len(mails))
	for i, m := range mails {
		rows[i] = mailRow{Send: m.Send.ID, ID: m.Key, Run: m.RunID, Contact: m.ContactID, Email: m.Email}
		if !known[m.Send.ID] {
			known[m.Send.ID] = true
			sends = append(sends, sendRow{
				ID: m.Send.ID, WorkflowID: m.Send.WorkflowID, Version: m.Send.Version, NodePath: m.Send.Path, Template: m.Send.Template,
				Topic: m.Send.Topic, Transactional: m.Send.Transactional,
			})
		}
	}
	if err := db.ExecRows(ctx, s.db, addSends, orgID, sends); err != nil {
		return err
	}
	parameter, err := db.JSONParameter(rows)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, addMails, orgID, db.At(now), parameter); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, addMailRecipients, orgID, db.At(now), parameter)
	return err
}

func (s MailStore) Mailed(ctx context.Context, orgID string, contactIDs []string, since time.Time) (map[string][]time.Time, error) {
	type timeRow struct {
		Contact string  `db:"contact_id"`
		At      db.Time `db:"at"`
	}
	ids, err := db.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[timeRow](ctx, s.db, mailTimes, orgID, db.At(since), ids)
	times := map[string][]time.Time{}
	for _, r := range rows {
		times[r.Contact] = append(times[r.Contact], r.At.Time())
	}
	return times, err
}

func (s MailStore) OpenSends(ctx context.Context, limit int) ([]workflows.OpenSend, error) {
	type openRow struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	return db.ListAs(ctx, s.db, func(r openRow) workflows.OpenSend { return workflows.OpenSend{OrgID: r.OrgID, SendID: r.ID} }, openSends, limit)
}

func (s MailStore) Send(ctx context.Context, orgID, sendID string) (workflows.Send, error) {
	r, err := db.One[sendRow](ctx, s.db, "send of the workflow", s.db.LockedInside(ctx, sendByID, lockSend), orgID, sendID)
	return workflows.Send{
		ID: r.ID, WorkflowID: r.WorkflowID, Version: r.Version, Path: r.NodePath, Template: r.Template, Topic: r.Topic, Transactional: r.Transactional,
		Status: workflows.Status(r.Status),
	}, err
}

// tierOf returns the tier to which a reason belongs.
func tierOf(r engine.Reason) engine.Tier {
	switch r {
	case "":
		return ""
	case engine.OptedOut:
		return engine.ByTopic
	}
	return engine.ByAccount
}

func (s MailStore) Recipients(ctx context.Context, orgID string, of workflows.Send, keys []string) (map[string]workflows.Recipient, error) {
	type keyRow struct {
		ID        string `db:"id"`
		ContactID string `db:"contact_id"`
	}
	parameter, err := db.JSONParameter(keys)
	if err != nil {
		return nil, err
	}
	mails, err := db.List[keyRow](ctx, s.db, contactsOfMails, parameter, orgID, of.ID)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(mails))
	for i, m := range mails {
		ids[i] = m.ContactID
	}
	judged, err := s.judge(ctx, orgID, of, ids)
	found := make(map[string]workflows.Recipient, len(mails))
	for _, m := range mails {
		if r, known := judged[m.ContactID]; known {
			found[m.ID] = r
		}
	}
	return found, err
}

// judge returns the contacts as recipients of the send, by id.
func (s MailStore) judge(ctx context.Context, orgID string, of workflows.Send, contactIDs []string) (map[string]workflows.Recipient, error) {
	type judgedRow struct {
		ID         string        `db:"id"`
		Email      string        `db:"email"`
		Attributes string        `db:"attributes"`
		Reason     engine.Reason `db:"reason"`
	}
	ids, err := db.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[judgedRow](ctx, s.db, judgedContacts, ids, orgID, of.Transactional, of.Topic)
	judged := make(map[string]workflows.Recipient, len(rows))
	for _, r := range rows {
		judged[r.ID] = workflows.Recipient{ContactID: r.ID, Email: r.Email, Attributes: json.RawMessage(r.Attributes), Tier: tierOf(r.Reason), Reason: r.Reason}
	}
	return judged, err
}
