package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	accountPath    = Path + "/account"
	productionPath = accountPath + "/production-access"
)

func (d *Dashboard) accountPages() []route {
	return []route{
		{path: "/account", needs: access.MayViewAccount, get: d.showAccount},
		{path: "/account/production-access", needs: access.MaySubmitProduction, post: d.requestProductionAccess},
	}
}

var accountNotices = notices{
	"asked":        "The provider has the request. Its decision usually takes a day or two and appears here.",
	"connected":    "The connection is stored, and the account is being read. Verify it to see whether everything is in place.",
	"disconnected": "The sending account is disconnected, and its credentials are forgotten.",
	"template":     "The version is recorded.",
}

// stepNames are the steps of getting started in words.
var stepNames = map[string]string{
	"connect": "Connect the sending account", "validate_stack": "Check its infrastructure",
	"identity": "Verify a domain or address", "test_send": "Send a test message",
}

// stateWords are the states of steps and of requests in words.
var stateWords = map[string]string{
	string(account.StepPending): "to do", string(account.StepInProgress): "in progress", string(account.StepPassed): "done", string(account.StepFailed): "failed",
}

var requestWords = map[sending.AccessStatus]string{
	sending.AccessPending: "on its way to the provider", sending.AccessUnderReview: "under review at the provider", sending.AccessGranted: "granted",
	sending.AccessDenied: "denied", sending.AccessFailed: "failed or not answered",
}

// accountPage is what the page of the sending account shows.
type accountPage struct {
	account.Standing
	// Used and Pace are the quota and how much of it is used.
	Used, Pace string

	Steps    []stepRow
	Request  string // the state of the latest request in words, "" for none
	AskedAt  string
	Sees     bool // whether requests are the visitor's to see
	MayAsk   bool
	Form     form
	Wanted   sending.ProductionRequest
	OldStack bool
	// Connection is nil when nothing is connected or it is not the visitor's to see.
	Connection *connectionView
	MayConnect bool
}

type stepRow struct{ Name, State, Words, Detail string }

func (d *Dashboard) showAccount(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.accountForm(w, r, v, http.StatusOK, sending.ProductionRequest{MailType: sending.Transactional}, "")
}

// accountForm shows the page, with what was wanted in its form and the problem
// with it.
func (d *Dashboard) accountForm(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, wanted sending.ProductionRequest, problem string) {
	standing, err := d.Account.Standing(r.Context(), v.Org)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("sending account: %w", err))
		return
	}
	data := accountPage{
		Standing: standing, Sees: v.Member.Has(access.MayViewProduction), Form: formTo(v, productionPath), Wanted: wanted,
		OldStack: standing.CloudFormation != nil && !standing.CloudFormation.UpToDate,
	}
	if q := standing.SendQuota; q != nil {
		data.Used, data.Pace = usedOf(*q), atMost(q.MaxSendRate)
	}
	for _, s := range standing.Steps {
		data.Steps = append(data.Steps, stepRow{stepNames[s.Name], string(s.State), stateWords[string(s.State)], s.Detail})
	}
	if data.MayConnect = v.Member.Has(access.MayManageOrg); data.MayConnect {
		c, ok := d.connectionOf(w, r, v)
		if !ok {
			return
		}
		if c != nil {
			data.Connection = d.viewConnection(*c, v)
		}
	}
	open := false
	if last := standing.Request; last != nil {
		data.Request, data.AskedAt, open = requestWords[last.Status], last.CreatedAt.UTC().Format(dateLayout), last.Status.Open()
	}
	data.MayAsk = v.Member.Has(access.MaySubmitProduction) && standing.AWS != nil && standing.AWS.Sandbox && !open && !data.OldStack
	d.show(w, r, v, status, screen{page: "account", title: "Sending account", notice: accountNotices.of(r), problem: problem, data: data})
}

// usedOf says how much of the daily quota is used, and atMost what a limit is. A
// limit of zero is none.
func usedOf(q account.SendQuota) string {
	if q.Max24Hour == 0 {
		return grouped(q.SentLast24Hour) + " messages; there is no daily limit"
	}
	return grouped(q.SentLast24Hour) + " of " + grouped(q.Max24Hour) + " messages"
}

func atMost(limit int64) string {
	if limit == 0 {
		return "no limit"
	}
	return grouped(limit)
}

func (d *Dashboard) requestProductionAccess(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	wanted := sending.ProductionRequest{
		MailType: sending.MailType(r.PostForm.Get("mail_type")), Website: r.PostForm.Get("website"), UseCase: r.PostForm.Get("use_case"),
	}
	made, err := d.Account.RequestProductionAccess(r.Context(), d.permitted(v, access.MaySubmitProduction), v.Org.ID, wanted)
	if made.ID != "" { // also when the provider refused it
		detail := map[string]any{"mail_type": made.MailType, "website": made.Website, "status": made.Status}
		if err := d.record(context.WithoutCancel(r.Context()), v, "production_access.requested", made.ID, detail); err != nil {
			d.fail(w, r, v, err)
			return
		}
	}
	switch e := core.AsError(err); {
	case err == nil:
		noticed(w, accountPath, "asked")
	case e.Code == core.CodeInvalidScope:
		d.fail(w, r, v, err)
	case e.HTTPStatus() < http.StatusInternalServerError || e.Code == core.CodeUpstreamUnavailable:
		d.accountForm(w, r, v, e.HTTPStatus(), wanted, productionProblem(e))
	default:
		d.fail(w, r, v, err)
	}
}

// productionLabels are what the form calls its fields.
var productionLabels = map[string]string{"mail_type": "The kind of mail", "website": "The website", "use_case": "The description of the use"}

func productionProblem(e *core.Error) string {
	if e.Code != core.CodeValidationFailed {
		return e.Message + " " + e.NextStep()
	}
	text := ""
	for _, f := range e.Fields {
		if label := productionLabels[f.Field]; label != "" {
			text += label + " " + f.Reason + ". "
		}
	}
	if text == "" {
		return e.Message
	}
	return text[:len(text)-1]
}

// record leaves a line of the visitor's in the audit log.
func (d *Dashboard) record(ctx context.Context, v access.Visitor, action, subject string, detail map[string]any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("detail of %s: %w", action, err)
	}
	actor := access.ActorOf(v.User.ID)
	return d.Audit.AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: v.Org.ID, OccurredAt: d.Clock(), Action: action, ActorKind: actor.Kind, ActorID: actor.ID,
		SubjectID: subject, Detail: string(text),
	})
}
