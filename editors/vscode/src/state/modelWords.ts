/** Models as a list shows them: those that vendors told of, and those that the configuration names itself. */

import type { ListedModel, ModelListResult } from "../protocol.gen";

export interface ModelWords {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** What `assistant.model.id` takes. */
  readonly id: string;
}

const NOW = "the model of this conversation now";

/** What can be chosen: also the model that is asked now, and the aliases, where no vendor told of them. */
export function modelWords({ models, aliases, effective }: ModelListResult): readonly ModelWords[] {
  const listed = new Set(models.map(({ id }) => id));
  const isUnlisted = effective !== undefined && !listed.has(effective);
  return [
    ...(isUnlisted ? [{ label: effective, description: "", detail: NOW, id: effective }] : []),
    ...models.map((model) => ({
      label: model.id,
      description: [model.displayName, ...model.aliases].filter(Boolean).join(", "),
      detail: factsOf(model),
      id: model.id,
    })),
    ...aliases
      .filter(({ model }) => !listed.has(model))
      .map(({ name, model }) => ({
        label: name,
        description: model,
        detail: "an alias of yours",
        id: model,
      })),
  ];
}

function factsOf({ contextWindow, effective, deprecated }: ListedModel): string {
  const facts = [
    effective ? NOW : "",
    contextWindow === undefined ? "" : `reads up to ${contextWindow.toLocaleString("en")} tokens`,
    deprecated === true ? "will be withdrawn by its vendor" : "",
  ];
  return facts.filter(Boolean).join("; ");
}
