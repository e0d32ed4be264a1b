// Package reports is how sending went, in figures: deliveries, engagement and templates over time. Then// figures are kept as events arrive and are correct to the event.
package reports
