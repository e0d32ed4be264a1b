package contacts

// PlanIn returns the plan in the input of a write, after Prepare has set it.
func PlanIn(in any) Plan {
	switch in := in.(type) {
	case CreateContactIn:
		return in.write.Plan
	case ReplaceContactIn:
		return in.write.Plan
	case UpdateContactIn:
		return in.write.Plan
	case UpsertContactIn:
		return in.write.Plan
	case UpsertByExternalIDIn:
		return in.write.Plan
	case IdentifyContactIn:
		return in.write.Plan
	}
	panic("no write of a contact")
}
