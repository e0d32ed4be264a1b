package people

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// maxPasskeys is the maximum number of passkeys of one person.
const maxPasskeys = 20

// BeginPasskey returns a request for a new passkey. It fails with conflict if the person
// has the maximum number of passkeys. It also fails with conflict if a recent proof of a
// second factor or of the password is missing; see [IsProofNeeded].
func (f *SecondFactors) BeginPasskey(ctx context.Context, v Visitor) (PasskeyQuestion, error) {
	if !f.OffersPasskeys() {
		return PasskeyQuestion{}, passkeyError(errNoPasskeys)
	}
	has, err := f.CheckIdentity(ctx, v)
	if err != nil {
		return PasskeyQuestion{}, err
	}
	if len(has.Passkeys) >= maxPasskeys {
		return PasskeyQuestion{}, tooManyPasskeys()
	}
	options, memory, err := f.protocol.Register(v.User, has.Passkeys)
	if err != nil {
		return PasskeyQuestion{}, fmt.Errorf("ask for a new passkey: %w", err)
	}
	return f.ceremonies.keep(ctx, PasskeyCeremony{UserID: v.User.ID, Purpose: ceremonyRegister, Data: memory}, options)
}

func tooManyPasskeys() error {
	return core.Conflict(fmt.Sprintf("You have %d passkeys and cannot have more.", maxPasskeys), "Remove a passkey first.")
}

// AddPasskey verifies the answer to BeginPasskey and stores the new passkey, which is then
// a second factor.
func (f *SecondFactors) AddPasskey(ctx context.Context, v Visitor, name string, a PasskeyAnswer, requestID string) (Added, error) {
	if err := access.CheckName(name); err != nil {
		return Added{}, err
	}
	if _, err := f.CheckIdentity(ctx, v); err != nil {
		return Added{}, err
	}
	c, err := f.ceremonies.take(ctx, a, ceremonyRegister, v.User.ID)
	if err != nil {
		return Added{}, err
	}
	judged, err := f.protocol.VerifyRegistration(v.User, c.Data, a.Answer)
	if err != nil {
		return Added{}, passkeyError(err)
	}
	return f.add(ctx, v, kindPasskey, requestID, func(ctx context.Context) error {
		if existing, err := f.passkeys.Passkeys(ctx, v.User.ID); err != nil || len(existing) >= maxPasskeys {
			return cmp.Or(err, tooManyPasskeys())
		}
		return f.passkeys.InsertPasskey(ctx, Passkey{
			ID: core.NewID(), UserID: v.User.ID, CredentialID: judged.CredentialID, Name: name,
			Credential: judged.Credential, CreatedAt: f.people.Clock(),
		})
	})
}

// RenamePasskey changes the name of a passkey. It fails with not_found if the visitor has
// no passkey with this id.
func (f *SecondFactors) RenamePasskey(ctx context.Context, v Visitor, id, name string) error {
	if err := access.CheckName(name); err != nil {
		return err
	}
	return f.people.withPerson(ctx, v.User.ID, func(ctx context.Context) error {
		all, err := f.passkeys.Passkeys(ctx, v.User.ID)
		if err != nil {
			return fmt.Errorf("passkeys: %w", err)
		}
		i := slices.IndexFunc(all, func(p Passkey) bool { return p.ID == id })
		if i < 0 {
			return core.NotFound("passkey")
		}
		all[i].Name = name
		return f.passkeys.SetPasskey(ctx, all[i])
	})
}

// RemovePasskey deletes a passkey. If it was the last second factor, it also deletes the
// recovery codes. It fails with conflict if an organization requires the last factor; see
// [SecondFactors.MayLose].
func (f *SecondFactors) RemovePasskey(ctx context.Context, v Visitor, id, requestID string) error {
	if !core.IsID(id) {
		return core.NotFound("passkey")
	}
	return f.remove(ctx, v, kindPasskey, requestID, func(ctx context.Context) error {
		return f.passkeys.DeletePasskey(ctx, v.User.ID, id)
	})
}
