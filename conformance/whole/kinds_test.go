package whole

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// kind is one way to name an object, such as "contact id". The number of a test case makes
// the names of its objects unique.
type kind struct {
	name string
	// foreign creates an object in the other organization and returns its name. number makes
	// the name unique.
	foreign func(t *testing.T, w world, number int) string
	// absent returns an unused name of this kind: no object of any organization has it.
	// Different numbers give different names.
	absent func(number int) string
}

var (
	contactAddress = kind{"contact address", func(t *testing.T, w world, n int) string {
		return w.foreignContact(t, n)["email"].(string)
	}, func(n int) string { return fmt.Sprintf("absent.%03d@example.org", n) }}
	externalID = kind{"external id", func(t *testing.T, w world, n int) string {
		return w.foreignContact(t, n)["external_id"].(string)
	}, func(n int) string { return fmt.Sprintf("absent-external-%03d", n) }}
	contactID = kind{"contact id", func(t *testing.T, w world, n int) string {
		return w.foreignContact(t, n)["id"].(string)
	}, func(int) string { return core.NewID() }}
	listID = kind{"list id", func(t *testing.T, w world, n int) string {
		return w.foreignList(t, n).ID
	}, func(int) string { return core.NewID() }}
	listKey = kind{"list key", func(t *testing.T, w world, n int) string {
		return w.foreignList(t, n).Key
	}, func(n int) string { return fmt.Sprintf("absent-list-%03d", n) }}
	listName = kind{"list name", func(t *testing.T, w world, n int) string {
		return w.foreignList(t, n).Name
	}, func(n int) string { return fmt.Sprintf("Absent list %03d", n) }}
	attributeName = kind{"attribute name", func(t *testing.T, w world, n int) string {
		name := fmt.Sprintf("foreign_%03d", n)
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.Other.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: name, Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
		}))
		return name
	}, func(n int) string { return fmt.Sprintf("no_thing_%03d", n) }}
	attributeID = kind{"attribute id", func(t *testing.T, w world, n int) string {
		id := core.NewID()
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.Other.OrgID, attributes.Attribute{
			ID: id, Name: fmt.Sprintf("foreign_by_id_%03d", n), Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
		}))
		return id
	}, func(int) string { return core.NewID() }}
	topicName = kind{"topic name", func(t *testing.T, w world, n int) string {
		name := fmt.Sprintf("foreign-topic-%03d", n)
		topic := sending.Topic{Name: name, DisplayName: name, Default: sending.OptIn}
		w.follow(t, w.p.Other.OrgID, simulator.Setup{List: &sending.ContactList{Name: "other", Topics: []sending.Topic{topic}}})
		return name
	}, func(n int) string { return fmt.Sprintf("absent-topic-%03d", n) }}
)

// names maps each text member of an operation's input to the kinds of objects that the text
// can name. A test fails for a member that is neither in this table nor in [namesNothing].
var names = map[string][]kind{
	"email":                     {contactAddress, suppressedAddress},
	"external_id":               {externalID},
	"contact_id":                {contactID},
	"contact":                   {contactAddress, contactID, externalID},
	"add[]":                     {listID, listKey},
	"remove[]":                  {listID, listKey},
	"lists[]":                   {listID, listKey},
	"lists[].id":                {listID},
	"lists[].key":               {listKey},
	"lists.add[]":               {listID, listKey},
	"lists.remove[]":            {listID, listKey},
	"lists.set[]":               {listID, listKey},
	"attributes{}":              {attributeName},
	"attribute_key":             {attributeName},
	"topic":                     {topicName},
	"topic_preferences{}":       {topicName},
	"topic_preferences[].topic": {topicName},
	"channel":                   {channelName, channelID},
	"name":                      {channelName, attributeName},
	"domain":                    {trackingDomain},
	"slug":                      {templateName},
	"query":                     {listName, templateName, segmentName},
	"id":                        {messageID, listID, listKey, attributeID},
	"job_id":                    {bulkJob},
	"activity_name":             {promotedName},
	"property":                  {promotedProperty},
	"source":                    {}, // see namesOf
	"workflow":                  {workflowID, workflowKey},
	"workflow_id":               {workflowID},
	"run_id":                    {runID},

	"activities[].email":           {contactAddress, suppressedAddress},
	"activities[].external_id":     {externalID},
	"activities[].idempotency_key": {idempotencyKey},
	"activities[].name":            {activityName},
	"message_id":                   {messageID},
	"recipient":                    {messageRecipient},
	"template":                     {messageTemplate},
	"identity":                     {messageDomain, identityName},

	"broadcast_id":  {broadcastID},
	"audience_id":   {listID, listKey, segmentID, segmentKey},
	"template_id":   {templateName},
	"topic_id":      {topicName},
	"from_identity": {senderAddress},
	"recipients[]":  {contactAddress},

	"local_part": {receivingAddress},
	"token_id":   {pullTokenID},

	"source_id":     {reportSource},
	"annotation_id": {domainEvent},
}

// namesOf has more kinds of objects that a member can name, in addition to the kinds in
// names. The key "segments_ id" means the member id of all operations whose names begin
// with segments_.
var namesOf = map[string][]kind{
	"segments_ id":            {segmentID, segmentKey},
	"activity_properties_ id": {propertyID},
	"contacts_ id":            {contactID, contactAddress, externalID},
	"contacts_ name":          {activityName},
	"activities_ name":        {activityName},
	"broadcasts_ id":          {broadcastID},
	"workflows_ id":           {workflowID, workflowKey},
	"inboxes_ id":             {inboxID},
	"inbox_pull_tokens_ id":   {inboxID},
	"verified_senders_ id":    {claimID},
	"inbound_ domain":         {receivingDomain, receivingDomainID},
	"domain_auth_ domain":     {reportedDomain},
	"inbound_ message_id":     {receivedMessage},
	"segments_ source":        {predicateOfAttribute, predicateOfList, predicateOfSegment, predicateOfProperty},

	// The answer of workflows_author has a hash of the source.
	"workflows_dry_run source":             {workflowOnSegment},
	"workflows_estimate_enrollment source": {workflowOnSegment},
}

func (s subject) kindsAt(place string) []kind {
	all := slices.Clone(names[place])
	for of, more := range namesOf {
		if domain, at, _ := strings.Cut(of, " "); at == place && strings.HasPrefix(s.Name, domain) {
			all = append(all, more...)
		}
	}
	return all
}

// namesNothing has the members whose text does not name an object, with the meaning of the
// text.
var namesNothing = map[string]string{
	"from":          "a time",
	"to":            "a time",
	"since":         "a time",
	"created_at":    "a time",
	"updated_at":    "a time",
	"lists[].name":  "words about a list that its id and key name",
	"enum_values[]": "values of the caller's own attribute",
	"files{}":       "a text of the caller's own bundle",
	"images{}":      "an image of the caller's own bundle",

	"activities[].occurred_at": "a time",
	"activities[].dedup_mode":  "one of two words",

	"data{}":  "a variable of the caller's own template",
	"profile": "a name in the caller's own template",

	"html":              "the text of a message",
	"text":              "the text of a message",
	"subject":           "the text of a message",
	"testdata{}":        "a name in the caller's own template",
	"base_content_hash": "a hash of the caller's own template",
	"message":           "words about a change of the caller's own",

	"status": "states of runs, with commas",

	"tag": "a word that is looked for in the caller's own templates and broadcasts",

	"preview_text":    "the text of a message",
	"scheduled_at":    "a time",
	"template_data{}": "a variable of the caller's own message",
	"sample_data{}":   "a variable of the caller's own message",

	"description":  "words about a definition of the caller's own",
	"display_name": "words about a definition of the caller's own",
	"key":          "a name that the caller makes, or one that is ignored",

	"webhook_url":       "a URL of the caller's own webhook",
	"allow_patterns[]":  "patterns for the caller's own addresses",
	"metadata{}":        "the caller's own data about an address",
	"sender":            "an address that is looked for in the caller's own mail",
	"account_ref":       "the caller's own id of a customer",
	"allowed_senders[]": "addresses that need not be anybody's",
	"label":             "words about an inbox or a link of the caller's own",
	"match_sender":      "an address that is looked for in the caller's own inbox",
	"match_subject":     "words that are looked for in the caller's own inbox",
	"match_contains":    "words that are looked for in the caller's own inbox",
	"code":              "the digits of a mail to the caller",

	"note":        "words about a domain of the caller's own",
	"occurred_at": "a time",

	"attribute_value": "a value that is looked for in the caller's own contacts",
	"cursor":          "a time and a row to go on behind, in the caller's own rows whoever made it",
}

// companions maps a member to the other arguments that a call with this member requires. A
// key can also be an operation and a member of its arguments, and then the kind of name.
var companions = map[string]map[string]any{
	"attribute_key":         {"attribute_value": "x"},
	"templates_author slug": {"html": "<p>Hello</p>", "subject": "Hello"},

	"workflows_dry_run contact_id, asked by agents": {"source": ownWorkflow},

	"inbound_webhook_replace domain": publicWebhook,
	"verified_senders_confirm id":    anyCode,

	"templates_test_send slug":          tested,
	"broadcasts_test_send id":           tested,
	"broadcasts_test_send broadcast_id": tested,

	"broadcasts_create name":           composed,
	"broadcasts_create topic_id":       composed,
	"broadcasts_create from_identity":  composed,
	"broadcasts_create template_id":    {"audience_id": ownList},
	"broadcasts_create audience_id":    inline,
	"broadcasts_compose name":          composed,
	"broadcasts_compose topic_id":      composed,
	"broadcasts_compose from_identity": composed,
	"broadcasts_compose template_id":   {"audience_id": ownList},
	"broadcasts_compose audience_id":   inline,

	"broadcasts_create audience_id segment id":   inlineToSegment,
	"broadcasts_create audience_id segment key":  inlineToSegment,
	"broadcasts_compose audience_id segment id":  inlineToSegment,
	"broadcasts_compose audience_id segment key": inlineToSegment,
}

// expectedAnswer is the expected answer of an operation if an argument names another
// organization's object. why is the reason for an answer other than 404.
type expectedAnswer struct {
	status int
	code   string
	why    string
}

// otherwise has the expected answers other than 404 of calls that name an object of another
// organization. A key is an operation and a member of its arguments, sometimes followed by
// the kind of name or by ", asked by agents". Answers of [answerOfWrite] and, for filters,
// of [subject.aFilter] are not in the map.
var otherwise = map[string]expectedAnswer{
	"contacts_archive email":       {200, "", "archiving nobody is no error"},
	"contacts_archive external_id": {200, "", "archiving nobody is no error"},
	"contacts_create email":        {201, "", "makes a contact of the caller's own"},
	"contacts_replace email":       {201, "", "makes a contact of the caller's own"},
	"contacts_replace external_id": {422, "validation_failed", "is not the contact's"},
	"contacts_replace id":          {422, "validation_failed", "is not the contact's"},
	"contacts_upsert email":        {200, "", "makes a contact of the caller's own"},
	"contacts_upsert external_id":  {422, "unknown_external_id", "no address is given to make one with"},
	"lists_create name":            {201, "", "makes a list of the caller's own"},
	"templates_author slug":        {200, "", "makes a template of the caller's own"},
	"topics_create name":           {201, "", "makes a topic of the caller's own"},

	"contacts_upsert_by_external_id email":        {201, "", "makes a contact of the caller's own"},
	"contacts_upsert_by_external_id external_id":  {422, "unknown_external_id", "no address is given to make one with"},
	"contacts_upsert_by_external_id id":           {422, "validation_failed", "is no UUID"},
	"contacts_archive_by_external_id external_id": {200, "", "archiving nobody is no error"},
	"contacts_identify email":                     {200, "", "makes a contact of the caller's own"},
	"contacts_identify external_id":               {422, "unknown_external_id", "no address is given to make one with"},
	"lists_check_member contact external id":      {422, "validation_failed", "takes ids and addresses alone"},

	"contacts_upsert_by_external_id id list id":      {409, "contact_external_id_mismatch", "the address is checked first"},
	"contacts_upsert_by_external_id id attribute id": {409, "contact_external_id_mismatch", "the address is checked first"},
	"contacts_upsert_by_external_id id contact id":   {409, "contact_external_id_mismatch", "the address is checked first"},
	"attributes_create name channel name":            {422, "validation_failed", "takes identifiers alone"},
	"attributes_create name":                         {201, "", "makes an attribute of the caller's own"},
	"attributes_update name channel name":            {422, "validation_failed", "takes identifiers alone"},
	"attributes_preview name channel name":           {422, "validation_failed", "takes identifiers alone"},

	"activities_record activities[].email":           {200, "", "makes a contact of the caller's own"},
	"activities_record activities[].external_id":     {200, "", "the item alone is refused"},
	"activities_record activities[].idempotency_key": {200, "", "a key of the caller's own"},
	"activities_record activities[].name":            {200, "", "an activity of the caller's own"},

	"activity_properties_create activity_name":  {201, "", "promotes a property of the caller's own"},
	"activity_properties_create property":       {201, "", "promotes a property of the caller's own"},
	"activity_properties_replace activity_name": {200, "", "changes a property of the caller's own"},
	"activity_properties_replace property":      {200, "", "changes a property of the caller's own"},
	"activity_properties_preview activity_name": {200, "", "changes nothing"},
	"activity_properties_preview property":      {200, "", "changes nothing"},

	"segments_check_member contact":                      {200, "", "who does not exist is in none"},
	"segments_check_member contact external id":          {422, "validation_failed", "takes ids and addresses alone"},
	"segments_preview_predicate source":                  {422, "validation_failed", "the predicate is wrong"},
	"segments_preview_predicate source, asked by agents": {200, "", "the answer says what is wrong"},

	"suppressions_check_address email": {200, "", "says what the caller's own lists hold"},
	"suppressions_list email":          {200, "", "a search that finds nothing"},

	"reports_deliverability channel channel name":       {422, "validation_failed", "takes ids alone"},
	"reports_engagement channel channel name":           {422, "validation_failed", "takes ids alone"},
	"reports_template_performance channel channel name": {422, "validation_failed", "takes ids alone"},

	"messages_list channel channel name": {422, "validation_failed", "takes ids alone"},
	"messages_search channel":            {404, "not_found", "agents name a channel, and are told that there is none"},
	"reports_get_sending_health channel": {404, "not_found", "agents name a channel, and are told that there is none"},
	"recipients_messages email":          {200, "", "nobody mailed it"},

	"inbound_domains_create domain":                     {422, "receiving_domain_not_owned", "no domain above it is verified"},
	"inbound_domains_create domain receiving domain id": {422, "validation_failed", "is no name of a domain"},
	"inbound_addresses_create local_part":               {201, "", "makes an address of the caller's own"},
	"inbound_addresses_delete local_part":               {204, "", "deleting no address is no error"},
	"inbox_pull_tokens_revoke token_id":                 {204, "", "revoking no link is no error"},
	"verified_senders_create email":                     {202, "", "mails a code to the address"},

	"broadcasts_create name":            {201, "", "makes a draft of the caller's own"},
	"broadcasts_create audience_id":     {422, "validation_failed", "the member is wrong"},
	"broadcasts_create template_id":     {422, "validation_failed", "the member is wrong"},
	"broadcasts_create topic_id":        {422, "validation_failed", "the member is wrong"},
	"broadcasts_create from_identity":   {422, "validation_failed", "the member is wrong"},
	"broadcasts_compose name":           {200, "", "makes a draft of the caller's own"},
	"broadcasts_compose audience_id":    {422, "validation_failed", "the member is wrong"},
	"broadcasts_compose template_id":    {422, "validation_failed", "the member is wrong"},
	"broadcasts_compose topic_id":       {422, "validation_failed", "the member is wrong"},
	"broadcasts_compose from_identity":  {422, "validation_failed", "the member is wrong"},
	"broadcasts_test_send recipients[]": {200, "", "a test goes to any address"},
	"templates_test_send recipients[]":  {200, "", "a test goes to any address"},
}

// answerOfWrite returns the expected answer to a write that names another organization's
// object in the input member at the path place. The answer is a validation error of the
// member. The second result is false for a place with another expected answer.
func answerOfWrite(place string) (expectedAnswer, bool) {
	root, _, _ := strings.Cut(strings.TrimRight(place, "[]{}"), ".")
	switch root {
	case "lists", "lists[]", "add", "remove", "topic_preferences[]", "topic_preferences":
		return expectedAnswer{422, "validation_failed", "the member is wrong"}, true
	case "attributes":
		return expectedAnswer{422, "attribute_validation_failed", "the member is wrong"}, true
	}
	return expectedAnswer{}, false
}

// identifying has the members that name the object of an operation. Some operations accept
// any one of several such members, so their schema requires none of them.
var identifying = []string{"email", "external_id", "contact_id", "id", "message_id", "workflow"}

// aFilter returns the expected answer to a read whose filter names another organization's
// object: an empty result. The filter is the input member at place. The second result is
// false if that member is no filter: it is required or nested, identifies an object, or
// belongs to a write.
func (s subject) aFilter(t *testing.T, place string) (expectedAnswer, bool) {
	t.Helper()
	optional := !slices.Contains(nodeOf(t, s.input).Required, place) && slices.Contains(s.input.Members(), place)
	return expectedAnswer{200, "", "a filter that nothing fits"}, s.Effect == core.Reads && optional && !slices.Contains(identifying, place)
}

func (s subject) answersTo(t *testing.T, place string, k kind) expectedAnswer {
	t.Helper()
	if in, ok := answerOfWrite(place); ok {
		return in
	}
	other, ok := otherwise[s.Name+" "+place+" "+k.name]
	if !ok && s.surface == core.Agent {
		other, ok = otherwise[s.Name+" "+place+", asked by agents"]
	}
	if !ok {
		other, ok = otherwise[s.Name+" "+place]
	}
	if ok {
		if s.route.Success == 204 || s.route.Success == 202 && s.surface == core.REST {
			other.status = s.route.Success
		}
		return other
	}
	if filter, ok := s.aFilter(t, place); ok {
		return filter
	}
	return expectedAnswer{404, "not_found", ""}
}

// world is a running product with a caller of the demo organization (own) and one of
// another organization (others).
type world struct {
	p           *product.Product
	own, others caller
}

func newWorld(t *testing.T, p *product.Product) world {
	t.Helper()
	w := world{p, callerOf(t, p, p.Live), callerOf(t, p, p.Other.Live)}
	w.follow(t, p.OrgID, simulator.Setup{})
	w.follow(t, p.Other.OrgID, simulator.Setup{})
	return w
}

func (w world) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w world) foreignContact(t *testing.T, n int) map[string]any {
	t.Helper()
	return w.contact(t, w.others, fmt.Sprintf("foreign.%03d@example.org", n), fmt.Sprintf("foreign-external-%03d", n))
}

func (w world) contact(t *testing.T, of caller, email, externalID string) map[string]any {
	t.Helper()
	made := of.callTool(t, "contacts_upsert", map[string]any{"email": email, "external_id": externalID})
	contact, ok := made.output()["contact"].(map[string]any)
	if !ok {
		t.Fatalf("no contact: %d %s", made.status, made.body)
	}
	return contact
}

func (w world) foreignList(t *testing.T, n int) lists.List {
	t.Helper()
	l := lists.List{
		ID: core.NewID(), Key: fmt.Sprintf("foreign-list-%03d", n), Name: fmt.Sprintf("Foreign list %03d", n), Source: "api",
		Origin: core.ManagedOrigin, Status: "active", CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
	}
	w.must(t, w.p.DB.Lists().InsertList(t.Context(), w.p.Other.OrgID, l))
	return l
}
