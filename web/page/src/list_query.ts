// The filter, the order and the search of the list, which its address contains: "#/?filter=late&order=-end&search=ann".
export const FILTERS = {
  all: "all",
  running: "running",
  late: "likely late or with warnings",
  ended: "ended",
  succeeded: "succeeded",
  failed: "failed",
};
export const ORDERS = {
  state: "running first",
  end: "earliest end first",
  due: "most likely late first",
  start: "newest first",
  elapsed: "longest first",
  name: "by name",
};
export type Filter = keyof typeof FILTERS;
export type Order = keyof typeof ORDERS;

export interface ListQuery {
  filter: Filter;
  order: Order;
  descending: boolean;
  search: string;
}

// Returns the query of an address. Unknown values count as omitted.
export function queryOf(hash: string): ListQuery {
  const given = new URLSearchParams(/^#\/?\?(.*)$/s.exec(hash)?.[1] ?? "");
  const [filter, order] = [given.get("filter") ?? "", given.get("order") ?? ""];
  const column = order.replace(/^-/, "");
  return {
    filter: Object.hasOwn(FILTERS, filter) ? (filter as Filter) : "all",
    order: Object.hasOwn(ORDERS, column) ? (column as Order) : "state",
    descending: Object.hasOwn(ORDERS, column) && order !== column,
    search: given.get("search") ?? "",
  };
}

// Returns the address of a query. The address of the whole list in its usual order is "#/".
export function addressOf({ filter, order, descending, search }: ListQuery): string {
  const given = new URLSearchParams();
  if (filter !== "all") given.set("filter", filter);
  if (order !== "state" || descending) given.set("order", `${descending ? "-" : ""}${order}`);
  if (search) given.set("search", search);
  return given.size > 0 ? `#/?${given}` : "#/";
}
