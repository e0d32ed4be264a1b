// Package events tests the events of messages (deliveries, bounces, opens and so on) from
// their arrival to every list, report and page that shows them. It posts events of every
// type that Amazon SES publishes in two ways: signed by an Amazon SNS topic, and with the
// key of an EventBridge bus. It also tests the events that a simulated account publishes
// after a send.
package events
