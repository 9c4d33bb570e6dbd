export { Html, html } from '@fulfilment/http-service';
