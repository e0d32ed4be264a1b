package parity

// Each constant lists the members of one record or one response, with the kinds of their
// values.
const (
	accountTable = `
		org.id                                uuid
		org.name                              text
		org.slug                              text
		aws                                   object null
		aws.account_id                        text (null)
		aws.region                            text
		aws.sandbox                           bool
		send_quota                            object null
		send_quota.max_24_hour                int
		send_quota.max_send_rate              int
		send_quota.sent_last_24_hours         int
		production_access                     object null
		production_access.status              =pending =under_review =granted =denied =failed
		production_access.granted_at          time null
		cloudformation                        object null
		cloudformation.stack_name             (text) null
		cloudformation.template_version       int
		cloudformation.latest_version         int
		cloudformation.up_to_date             bool
		cloudformation.drift_status           (text) null
		plan.tier                             =free =team =business =admin =sponsored =demo
		plan.retention_days                   int
		plan.api_rate_limit_per_minute        int null`

	channelTable = `
		id                                    uuid
		name                                  text
		slug                                  text
		status                                =active =discovered =detached =archived =pending
		tracking_domain                       text null
		suppression_policy[]                  =BOUNCE =COMPLAINT
		identities[]                          text
		created_at                            time`

	identityTable = `
		identity                              text
		type                                  =email =domain
		verification_status                   =pending =success =failed
		dkim_status                           =pending =success =failed
		mail_from_domain                      (text) null
		created_at                            time`

	trackingDomainTable = `
		domain                                text
		status                                =pending =verified =failed
		ssl_status                            =pending =active =failed
		dns_records[].type                    =CNAME
		dns_records[].name                    text
		dns_records[].value                   text
		created_at                            time
		verified_at                           time null`

	templateTable = `
		slug                                  text
		name                                  text
		subject                               text
		channel                               (text) null
		version                               text
		content_hash                          text
		deployed_name                         text
		last_modified_at                      time
		source                                =git =managed =import
		validation_status                     =valid =invalid`

	templateDetailTable = templateTable + `
		html                                  text
		text                                  text
		variables[].name                      text
		variables[].required                  bool
		variables[].default                   (text) null
		diagnostics[]                         text
		topic                                 (text) null
		tags[]                                (text)
		version_number                        int
		deployed_version                      (int) null
		deploy_failure                        (text) null
		testdata                              open`

	messageTable = `
		id                                    text
		from                                  text
		to                                    text
		sent_at                               time
		status                                =Send =Delivery =Bounce =Complaint =Reject =Open =Click =DeliveryDelay =RenderingFailure
		channel                               ? text
		last_event_at                         (?) time
		subject                               ? text
		template                              ? text`

	eventTable = `
		type                                  =Send =Delivery =Bounce =Complaint =Reject =Open =Click =DeliveryDelay =RenderingFailure =Subscription
		occurred_at                           time
		metadata                              ? open`

	deliverabilityTable = `
		period                                time
		sent                                  int
		delivered                             int
		bounced                               int
		complained                            int
		suppressed                            int
		delivery_rate                         number`

	engagementTable = `
		period                                time
		sent                                  int
		delivered                             int
		opens                                 int
		unique_opens                          int
		clicks                                int
		unique_clicks                         int
		open_rate                             number
		click_rate                            number`

	templatePerformanceTable = `
		template                              text
		sent                                  int
		delivered                             int
		bounced                               int
		complained                            int
		opens                                 int
		unique_opens                          int
		clicks                                int
		unique_clicks                         int
		bounce_rate                           number
		complaint_rate                        number
		open_rate                             number
		click_rate                            number`

	suppressionTable = `
		email                                 text
		reason                                =bounce =complaint =manual
		suppressed_at                         time
		source                                =ses_event =manual`

	undeliverableTable = `
		email                                 text
		status                                =listed =excluded
		reason                                =permanent_bounce =complaint =rejected =repeated_transient =undetermined =soft_bounce_accumulation
		first_seen_at                         time
		last_seen_at                          time
		last_changed_at                       time
		event_count                           int
		excluded_at                           time null
		exclusion_reason                      text null`

	paginationTable = `
		pagination.has_more                   bool
		pagination.next_cursor                text null`
)

// rulesTable lists the members of the response with the rules for undeliverable addresses.
// All rules have the same members, except that rules about one event have no window_days.
func rulesTable() string {
	table := `
		profile                               =strict =standard =aggressive =custom
		version                               text`
	rule := func(name, window string) {
		for _, member := range []string{".enabled bool", ".locked bool", ".events int", ".window_days " + window} {
			table += "\n rules." + name + member
		}
	}
	for _, name := range []string{"permanent_bounce", "complaint", "rejected"} {
		rule(name, "(int) null")
	}
	for _, name := range []string{"repeated_transient", "undetermined", "soft_bounce_accumulation"} {
		rule(name, "int (null)")
	}
	return table
}
