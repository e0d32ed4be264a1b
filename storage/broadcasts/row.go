package broadcasts

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// row is a broadcast.
type row struct {
	ID              string       `db:"id"`
	Name            string       `db:"name"`
	Template        string       `db:"template"`
	TemplateVersion int          `db:"template_version"`
	HTML            string       `db:"html"`
	Text            string       `db:"body_text"`
	Subject         string       `db:"subject"`
	PreviewText     string       `db:"preview_text"`
	AudienceKind    string       `db:"audience_kind"`
	AudienceID      string       `db:"audience_id"`
	ShareFrom       string       `db:"share_from"`
	ShareTo         string       `db:"share_to"`
	ShareRest       bool         `db:"share_rest"`
	Topic           string       `db:"topic"`
	Sender          string       `db:"sender"`
	Data            string       `db:"data"`
	State           string       `db:"state"`
	ScheduleAt      *engine.Time `db:"schedule_at"`
	Rate            int          `db:"rate"`
	PacedAt         engine.Time  `db:"paced_at"`
	Paused          string       `db:"paused"`
	PausedAt        *engine.Time `db:"paused_at"`
	ResumesAt       *engine.Time `db:"resumes_at"`
	Frozen          string       `db:"frozen"`
	AudienceSize    *int         `db:"audience_size"`
	Sent            int          `db:"sent"`
	Failed          int          `db:"failed"`
	Filtered        int          `db:"filtered"`
	StartedAt       *engine.Time `db:"started_at"`
	CompletedAt     *engine.Time `db:"completed_at"`
	CreatedAt       engine.Time  `db:"created_at"`
	UpdatedAt       engine.Time  `db:"updated_at"`
	CreatedByKind   string       `db:"created_by_kind"`
	CreatedBy       string       `db:"created_by"`
	UserID          string       `db:"user_id"`
	Application     string       `db:"application"`
	Revision        int          `db:"revision"`
}

// shortColumns are the columns of a broadcast in a list, columns all of them.
const (
	shortColumns = `b.id, b.name, b.template, b.template_version, b.subject, b.preview_text, b.audience_kind, b.audience_id, b.share_from, b.share_to, b.share_rest, b.topic, b.sender, b.data,
		b.state, b.schedule_at, b.rate, b.paced_at, b.paused, b.paused_at, b.resumes_at, b.audience_size, b.sent, b.failed, b.filtered,
		b.started_at, b.completed_at, b.created_at, b.updated_at, b.created_by_kind, b.created_by, b.user_id, b.application, b.revision`
	columns = shortColumns + `, b.html, b.body_text, b.frozen`
)

// broadcast converts the row.
func (r row) broadcast() (broadcasts.Broadcast, error) {
	b := broadcasts.Broadcast{
		ID: r.ID, Name: r.Name, Template: r.Template, TemplateVersion: r.TemplateVersion, HTML: r.HTML, Text: r.Text,
		Subject: r.Subject, PreviewText: r.PreviewText, Target: broadcasts.Target{AudienceKind: broadcasts.AudienceKind(r.AudienceKind), AudienceID: r.AudienceID},
		Topic: r.Topic, From: r.Sender, State: broadcasts.State(r.State), ScheduleAt: moment(r.ScheduleAt), Rate: r.Rate,
		PacedAt: r.PacedAt.Time(), Frozen: r.Frozen, AudienceSize: r.AudienceSize, Sent: r.Sent, Failed: r.Failed, Filtered: r.Filtered,
		StartedAt: moment(r.StartedAt), CompletedAt: moment(r.CompletedAt), CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		CreatedBy:   broadcasts.Author{Kind: r.CreatedByKind, ID: r.CreatedBy, UserID: r.UserID},
		Application: r.Application, Revision: r.Revision,
	}
	if r.ShareTo != "" {
		b.Share = &broadcasts.Share{From: r.ShareFrom, To: r.ShareTo, Rest: r.ShareRest}
	}
	if r.Paused != "" && r.PausedAt != nil {
		b.Paused = &broadcasts.Pause{Reason: broadcasts.PauseReason(r.Paused), Since: r.PausedAt.Time(), ResumesAt: moment(r.ResumesAt)}
	}
	if err := json.Unmarshal([]byte(r.Data), &b.Data); err != nil {
		return broadcasts.Broadcast{}, fmt.Errorf("storage: data of a broadcast: %w", err)
	}
	return b, nil
}

// moment returns a time, nil for none.
func moment(t *engine.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.Time()
	return &at
}

// atOrNil returns a time for a nullable column.
func atOrNil(t *time.Time) *engine.Time {
	if t == nil {
		return nil
	}
	at := engine.At(*t)
	return &at
}

// shareColumns returns the values of the columns about a share.
func shareColumns(s *broadcasts.Share) (from, to string, rest bool) { //nolint:nonamedreturns // says which
	if s == nil {
		return "", "", false
	}
	return s.From, s.To, s.Rest
}

// pauseColumns returns the values of the columns about a pause.
func pauseColumns(p *broadcasts.Pause) (reason string, since, resumes *engine.Time) { //nolint:nonamedreturns // says which
	if p == nil {
		return "", nil, nil
	}
	return string(p.Reason), atOrNil(&p.Since), atOrNil(p.ResumesAt)
}
